import { kinds } from '../catalog/good.ts'
import { fieldsOfEveryPurchase, kindSchemaFor } from '../catalog/purchase-body.ts'
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

/** The fields that a purchase of any kind may have. Which of them one offer takes, get_offer says. */
export function purchaseFields(): Readonly<Record<string, Schema>> {
  const fields: Record<string, Schema> = {}
  for (const kind of kinds) {
    const { properties } = kindSchemaFor(kind) as { properties: Record<string, Schema> }
    for (const [name, schema] of Object.entries(properties)) {
      if (['offerId', 'value', ...fieldsOfEveryPurchase].includes(name)) continue
      const description = `${kind}: ${String(schema['description'])}`
      fields[name] = { type: schema['type'], description }
    }
  }
  return {
    offerId: { type: 'string', description: 'From search' },
    ...fields,
    value: {
      type: 'number',
      description:
        'US dollars, only for offers with an open value (priceType RANGE), within value.min and value.max of get_offer: 25 is 25.00 USD',
    },
    max_usdc: {
      type: 'number',
      description:
        'Your budget in USDC: 30 is 30.00 USDC. A higher price is refused before any payment',
    },
    webhook_url: {
      type: 'string',
      description:
        'An https URL of yours, on port 443 or 8443. The store sends it every state of the order, signed (Standard Webhooks). The secret that signs is in the answer, only with include_goods: true',
    },
  }
}

/** The arguments as the fields of a purchase, under the names of the HTTP interface. */
export function purchaseIn(args: Schema): Record<string, unknown> {
  const { max_usdc: maxUsdc, webhook_url: webhookUrl, ...fields } = args
  return {
    ...fields,
    ...(maxUsdc === undefined ? {} : { maxUsdc }),
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
  }
}
