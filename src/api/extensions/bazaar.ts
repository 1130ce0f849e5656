import { declareDiscoveryExtension } from '@x402/extensions/bazaar'
import type { ExampleBody } from '../../catalog/example-body.ts'
import { byKind } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { fieldsOfEveryPurchase, kindSchemaFor } from '../../catalog/purchase-body.ts'

/**
 * How a purchase route is called and what it answers, for indexes of paid resources. An index reads
 * it from the empty call, or from a payment that a client sent through a facilitator.
 *
 * @param example a body that buys something of this kind
 */
export function bazaarOf(kind: Kind, example: ExampleBody): { readonly bazaar: object } {
  const { info, schema } = declared[kind]
  return { bazaar: { info: { ...info, input: { ...info.input, body: example } }, schema } }
}

/** The only method that buys. */
const posted = { method: { const: 'POST' } }

/** Made once, because only the example depends on the offer. */
const declared = byKind(declarationOf)

/** The parts of the package's declaration that we use. */
interface Declared {
  readonly info: { readonly input: object }
  readonly schema: {
    readonly properties: {
      readonly input: { readonly properties: { readonly body: object } }
      readonly output: { readonly properties: { readonly example: object } }
    }
  }
}

function declarationOf(kind: Kind) {
  const { bazaar } = declareDiscoveryExtension({
    bodyType: 'json',
    input: {},
    inputSchema: shortSchemaOf(kind),
    output: {
      example: { orders: [{ state: 'FULFILLED', result: {} }] },
      schema: { required: ['orders'] },
    },
  }) as unknown as { bazaar: Declared }
  return shortened(bazaar)
}

/**
 * The declaration with the method, which the package leaves to its own server, not used here; and without parts for
 * which a header has no room: the dialect of the schema, and other ways to call.
 */
function shortened({ info, schema }: Declared) {
  const { input, output } = schema.properties
  const { example } = output.properties
  return {
    info: { ...info, input: { ...info.input, method: 'POST' } },
    schema: {
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: { body: input.properties.body, ...posted },
          required: ['method', 'body'],
        },
        output: { type: 'object', properties: { example } },
      },
      required: ['input'],
    },
  }
}

/**
 * The fields of the body with their types, without texts and patterns: it has to fit in a header, twice
 * (docs/agents/receipts.md). The body of the 402 has the whole schema.
 */
function shortSchemaOf(kind: Kind): Record<string, unknown> {
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
