import { declareDiscoveryExtension } from '@x402/extensions/bazaar'
import { keyOf } from '../api/buying/credentials.ts'
import type { PaymentTransport } from '../api/buying/payment-required.ts'
import { type Presented, presentedIn } from '../api/buying/presented.ts'
import type { Credentials } from '../api/operation.ts'
import { buyPath, purchasePath } from '../api/paths.ts'
import type { ExampleBody } from '../catalog/example-body.ts'
import { textIn } from './arguments.ts'
import { argumentSchema, purchaseFields } from './schemas.ts'
import type { ToolCall } from './tool.ts'

/** Where x402 has its payments and receipts (its transport for MCP). */
const paymentKey = 'x402/payment'
export const receiptKey = 'x402/payment-response'
/** Where the store takes a sign-in: what SIGN-IN-WITH-X carries, or the message before its encoding. */
const signInKey = 'sign-in-with-x'

/**
 * Named as the transport names tools and not by our address: a client that took it for an address
 * would send the payment there, as a request of another form.
 */
export const mcpTransport: PaymentTransport = {
  resource: () => 'mcp://tool/buy',
  howToSend: `call buy again with the same arguments and the signed payment in _meta["${paymentKey}"]`,
  otherwise: ({ url }, kind, { offerId }) =>
    `If you cannot send _meta, POST what bodySchema describes to ${url}${purchasePath(kind)} with an x402 client, or give the person ${url}${buyPath(String(offerId))} to pay there.`,
  discovery: (_, example) => toolBazaar(example),
}

export const signInGuidance = `Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and call again with it in _meta["${signInKey}"], or call with a listToken as access_token. Nothing is charged.`

/** Whether a call has something whose signature must be checked, which costs. */
export function carriesProof({ meta }: Pick<ToolCall, 'meta'>): boolean {
  return meta[paymentKey] !== undefined || meta[signInKey] !== undefined
}

/** Whether a call has a payment, of whatever worth. */
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

/** The sign-in of a call in the form that HTTP carries it in, whichever of both it has here. */
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

/** How the tool is called and what it answers, for indexes of paid resources that know tools. */
function toolBazaar(example: ExampleBody): Readonly<Record<string, unknown>> {
  return declareDiscoveryExtension({
    toolName: 'buy',
    transport: 'streamable-http',
    inputSchema: argumentSchema(purchaseFields(), ['offerId']),
    example: { ...example },
    output: { example: { orders: [{ state: 'FULFILLED', result: null }] } },
  })
}
