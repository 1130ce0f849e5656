import { kinds } from '../catalog/good.ts'
import { kindSchemaFor } from '../catalog/purchase-body.ts'
import { echoOf, type ParamSource, refused, unknownParameter } from '../catalog/search/params.ts'
import type { JsonObject } from './tool.ts'

type Arguments = Readonly<Record<string, unknown>>

const controlCharacters = /\p{Cc}/u

/**
 * The arguments of a tool as the parameters of an operation, so that the same code reads them as a query. A number
 * is equal to its text, and a list to its items joined by commas.
 */
export function inArguments(args: Arguments): ParamSource {
  return (known) =>
    new Map(
      Object.entries(args).map(([name, value]) => {
        if (!known.includes(name)) throw unknownParameter(name, known)
        return [name, textOf(name, value)]
      }),
    )
}

/** The arguments that are not null: many callers send null for an argument that they leave out. */
export function givenIn(args: Arguments | undefined): Arguments {
  const given = Object.entries(args ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(given)
}

/** @throws Refusal `invalid_parameter` */
function textOf(name: string, value: unknown): string {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (!items.every(isPlain)) {
    throw refused(echoOf(name), `${echoOf(name)} must be text, a number, or true or false.`)
  }
  const text = items.join(',').trim()
  if (controlCharacters.test(text)) {
    throw refused(echoOf(name), `${echoOf(name)} must not have control characters.`)
  }
  return text
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** A boolean argument. @throws Refusal `invalid_parameter` */
export function flagIn(args: Arguments, name: string): boolean {
  const value = args[name] ?? false
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false' || value === '') return value === 'true'
  throw refused(name, `${name} must be true or false.`)
}

/** A string argument, trimmed; undefined if it is empty. @throws Refusal `invalid_parameter` */
export function textIn(args: Arguments, name: string): string | undefined {
  const value = args[name]
  if (value === undefined || typeof value === 'string') return value?.trim() || undefined
  throw refused(name, `${name} must be text.`)
}

/** All arguments except these. */
export function without(args: Arguments, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)))
}

/** All arguments except empty strings: models send them for arguments that they leave out. */
export function withoutEmpty(args: Arguments): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== ''))
}

type Schema = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of arguments: their types, enums and meaning. All other rules are in the descriptions, because
 * hosts validate a call against the schema before the store sees it. Some then tell the model only that the call does
 * not match, while the store says what to correct; others reject schemas with patterns or bounds, or drop arguments
 * that the schema does not name.
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

/** One argument, with its bounds and its default in its description. */
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

/** The names of fields of a purchase as arguments of tools, where they differ. */
const argumentNames: Readonly<Record<string, string>> = {
  maxUsdc: 'max_usdc',
  webhookUrl: 'webhook_url',
}

const argumentOf = (field: string) => argumentNames[field] ?? field

/** The fields of purchases of all kinds, as arguments. The answer of get_offer says which of them an offer takes. */
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

/** The schema of a purchase body, with its fields named as arguments of tools. */
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

/** The arguments as the fields of a purchase, named as in the HTTP interface. */
export function purchaseIn(args: Schema): Record<string, unknown> {
  const renamed = Object.entries(argumentNames).flatMap(([field, name]) =>
    args[name] === undefined ? [] : [[field, args[name]] as const],
  )
  return { ...without(args, Object.values(argumentNames)), ...Object.fromEntries(renamed) }
}

const fieldNames = new RegExp(`\\b(${Object.keys(argumentNames).join('|')})\\b`, 'g')

/** A problem about a purchase, with its fields named as arguments of tools. */
export function problemInArguments(problem: Schema): Schema {
  return JSON.parse(JSON.stringify(problem).replace(fieldNames, argumentOf))
}
