import type { Kind } from '../../catalog/offer.ts'
import {
  type ExampleBody,
  fieldsOfEveryPurchase,
  kindSchemaFor,
} from '../../catalog/purchase-body.ts'

/**
 * How a purchase route is called and what it answers, for indexes of paid resources (x402 Bazaar). An index reads
 * it from the empty call, or from a payment that a client sent through a facilitator. The package's own declaration
 * has parts for which a header has no room, and lacks the method.
 *
 * @param example a body that buys something of this kind
 */
export function bazaarOf(kind: Kind, example: ExampleBody): { readonly bazaar: object } {
  const method = 'POST'
  return {
    bazaar: {
      info: {
        input: { type: 'http', bodyType: 'json', body: example, method },
        output: { type: 'json', example: { orders: [{ state: 'FULFILLED', result: {} }] } },
      },
      schema: {
        type: 'object',
        properties: {
          input: {
            type: 'object',
            properties: { body: shortSchemaOf(kind), method: { const: method } },
            required: ['method', 'body'],
          },
          output: {
            type: 'object',
            properties: { example: { type: 'object', required: ['orders'] } },
          },
        },
        required: ['input'],
      },
    },
  }
}

/**
 * The fields of the body with their types, without texts and patterns: it has to fit in a header, twice
 * (docs/agents/receipts.md). The body of the 402 has the whole schema.
 */
function shortSchemaOf(kind: Kind) {
  const { properties, required } = kindSchemaFor(kind)
  const fields = Object.entries(properties as Record<string, { readonly type: string }>).filter(
    ([name]) => !fieldsOfEveryPurchase.includes(name),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, { type }]) => [name, { type }])),
    required,
  }
}
