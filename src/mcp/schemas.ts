import { kinds } from '../catalog/good.ts'
import { kindSchemaFor } from '../catalog/purchase-body.ts'
import { without } from './arguments.ts'
import type { JsonObject } from './tool.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of arguments: their types, their choices and what they mean. What else the store checks
 * stands in the descriptions. Hosts hold a call to the schema before the store sees it, and some then tell
 * the model no more than that it does not match, where the store says what to correct; others take no
 * schema with patterns or bounds, or drop the arguments that it does not name.
 */
export function argumentSchema(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): JsonObject {
  const published = Object.entries(properties).map(([name, schema]) => [name, argument(schema)])
  return {
    type: 'object',
    properties: Object.fromEntries(published),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** One argument, with its bounds and its default in words. */
function argument({ type, description, enum: values, items, ...checked }: Schema): Schema {
  const { minimum, maximum, maxItems, default: usual } = checked
  const notes = [
    ...(maximum === undefined ? [] : [`${String(minimum)} to ${String(maximum)}`]),
    ...(maxItems === undefined ? [] : [`at most ${String(maxItems)}`]),
    ...(usual === undefined || usual === false ? [] : [`${String(usual)} if left out`]),
  ]
  const noted = notes.length === 0 ? description : `${String(description)} (${notes.join('; ')})`
  return {
    type,
    ...(values === undefined ? {} : { enum: values }),
    ...(items === undefined ? {} : { items }),
    description: noted,
  }
}

/** What the fields of every purchase are called among the arguments of tools. */
const argumentNames: Readonly<Record<string, string>> = {
  maxUsdc: 'max_usdc',
  webhookUrl: 'webhook_url',
}

const argumentOf = (field: string) => argumentNames[field] ?? field

/** The fields that a purchase of any kind may have, as arguments. Which of them one offer takes, get_offer says. */
export function purchaseFields(): Readonly<Record<string, Schema>> {
  const fields = kinds.flatMap((kind) =>
    Object.entries(propertiesOf(kindSchemaFor(kind))).map(([name, { type, description }]) => {
      const isShared = name === 'value' || name in argumentNames
      const said = isShared ? description : `${kind}: ${String(description)}`
      return [argumentOf(name), { type, description: said }] as const
    }),
  )
  return { ...Object.fromEntries(fields), offerId: { type: 'string', description: 'From search' } }
}

/** The schema of a purchase body, with its fields as the arguments of tools. */
export function bodyInArguments(schema: Schema): Schema {
  const properties = Object.entries(propertiesOf(schema)).map(([name, field]) => [
    argumentOf(name),
    field,
  ])
  return { ...schema, properties: Object.fromEntries(properties) }
}

function propertiesOf({ properties }: Schema): Readonly<Record<string, Schema>> {
  return properties as Readonly<Record<string, Schema>>
}

/** The arguments as the fields of a purchase, under the names of the HTTP interface. */
export function purchaseIn(args: Schema): Record<string, unknown> {
  const renamed = Object.entries(argumentNames).flatMap(([field, name]) =>
    args[name] === undefined ? [] : [[field, args[name]] as const],
  )
  return { ...without(args, Object.values(argumentNames)), ...Object.fromEntries(renamed) }
}

const fieldNames = new RegExp(`\\b(${Object.keys(argumentNames).join('|')})\\b`, 'g')

/** A problem about a purchase, with its fields as the arguments of tools. */
export function problemInArguments(problem: Schema): Schema {
  return JSON.parse(JSON.stringify(problem).replace(fieldNames, argumentOf))
}
