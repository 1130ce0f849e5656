import { kinds } from '../catalog/good.ts'
import { kindSchemaFor } from '../catalog/purchase-body.ts'
import type { JsonObject } from './tool.ts'

/** The JSON Schema of arguments, none of which is unknown. */
export function argumentSchema(
  properties: Readonly<Record<string, object>>,
  required: readonly string[],
): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false }
}

type Schema = Readonly<Record<string, unknown>>

/**
 * The fields that a purchase of any kind may have. Which of them one offer takes, get_offer says.
 * Patterns are left out: what models are run with does not take them all.
 */
export function purchaseFields(): Readonly<Record<string, Schema>> {
  const fields: Record<string, Schema> = {}
  for (const kind of kinds) {
    const { properties } = kindSchemaFor(kind) as { properties: Record<string, Schema> }
    for (const [name, schema] of Object.entries(properties)) {
      if (name === 'offerId' || name === 'value') continue
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
        'US dollars, only for offers with an open value (priceType RANGE): a plain number such as 25',
    },
  }
}
