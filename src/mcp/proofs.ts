import { declareDiscoveryExtension } from '@x402/extensions/bazaar'
import { keyOf } from '../api/buying/credentials.ts'
import type { PaymentTransport } from '../api/buying/payment-required.ts'
import { type Presented, presentedIn } from '../api/buying/purchase.ts'
import type { Credentials } from '../api/operation.ts'
import { buyPath, purchasePath } from '../api/paths.ts'
import type { ExampleBody } from '../catalog/purchase-body.ts'
import { argumentSchema, purchaseFields, textIn } from './arguments.ts'
import type { ToolCall } from './tool.ts'

/** The keys of x402 payments and settlements in `_meta` (the MCP transport of x402). */
const paymentKey = 'x402/payment'
export const receiptKey = 'x402/payment-response'
/** The key of a sign-in: the value of the header SIGN-IN-WITH-X, or the object that it encodes. */
const signInKey = 'sign-in-with-x'

/**
 * The resource is the tool's URI, as the transport defines it, and not our URL: a client could take a URL for an HTTP
 * endpoint and send the payment there.
 */
export const mcpTransport: PaymentTransport = {
  resource: () => 'mcp://tool/buy',
  howToSend: `call buy again with the same arguments and the signed payment in _meta["${paymentKey}"]`,
  otherwise: ({ url }, kind, { offerId }) =>
    `If you cannot send _meta, POST what bodySchema describes to ${url}${purchasePath(kind)} with an x402 client, or give the person ${url}${buyPath(String(offerId))} to pay there.`,
  discovery: (_, example) => toolBazaar(example),
}

export const signInGuidance = `Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and call again with it in _meta["${signInKey}"], or call with a listToken as access_token. Nothing is charged.`

/** Whether a call has a signature to check, which costs computation and calls to the chain. */
export function carriesProof({ meta }: Pick<ToolCall, 'meta'>): boolean {
  return meta[paymentKey] !== undefined || meta[signInKey] !== undefined
}

/** Whether a call has a payment, valid or not. */
export function bringsPayment({ meta }: Pick<ToolCall, 'meta'>): boolean {
  return (meta[paymentKey] ?? undefined) !== undefined
}

/** The payment of a call. */
export function presentedWith({ meta }: ToolCall): Presented {
  return bringsPayment({ meta }) ? presentedIn(meta[paymentKey], unreadable) : { type: 'none' }
}

/** The arguments that are credentials. */
export const credentialFields = {
  idempotency_key: {
    type: 'string',
    description: 'The idempotency_key of the purchase: shows that the goods are yours',
  },
  access_token: {
    type: 'string',
    description:
      'The accessToken of the purchase: shows that the goods are yours. Without an id: a listToken',
  },
} as const

/** The credentials of a call. @throws Refusal `invalid_header`, `invalid_parameter` */
export function credentialsIn(call: ToolCall): Credentials {
  const { args } = call
  return {
    accessToken: textIn(args, 'access_token'),
    signIn: signInWith(call),
    idempotencyKey: keyIn(args),
  }
}

/** The idempotency key among the arguments. @throws Refusal `invalid_header`, `invalid_parameter` */
export function keyIn(args: ToolCall['args']): string | undefined {
  return keyOf(textIn(args, 'idempotency_key'), 'idempotency_key')
}

/** The sign-in of a call, encoded as in the HTTP header, whether it came encoded or as an object. */
export function signInWith({ meta }: ToolCall): string | undefined {
  const given = meta[signInKey]
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return given
  return Buffer.from(JSON.stringify(given)).toString('base64')
}

function unreadable(why: string): Presented {
  return {
    type: 'unreadable',
    reason: `The payment in _meta["${paymentKey}"] cannot be read: ${why}`,
  }
}

/** The arguments and the answer of the tool, for indexes of paid resources (x402 Bazaar). */
function toolBazaar(example: ExampleBody): Readonly<Record<string, unknown>> {
  return declareDiscoveryExtension({
    toolName: 'buy',
    transport: 'streamable-http',
    inputSchema: argumentSchema(purchaseFields(), ['offerId']),
    example: { ...example },
    output: { example: { orders: [{ state: 'FULFILLED', result: null }] } },
  })
}
