import { declareDiscoveryExtension } from '@x402/extensions/bazaar'
import type { ExampleBody } from '../catalog/example-body.ts'
import { argumentSchema, purchaseFields } from './schemas.ts'

/** How the tool is called and what it answers, for indexes of paid resources that know tools. */
export function toolBazaar(example: ExampleBody): Readonly<Record<string, unknown>> {
  return declareDiscoveryExtension({
    toolName: 'buy',
    transport: 'streamable-http',
    inputSchema: argumentSchema(purchaseFields(), ['offerId']),
    example: { ...example },
    output: { example: { orders: [{ state: 'FULFILLED', result: null }] } },
  })
}
