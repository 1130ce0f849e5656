import { Refusal } from '../../lib/refusal.ts'
import type { Viewer } from '../../orders/replay.ts'
import type { PaymentPayload } from '../../payments/x402.ts'
import type { BuyingDeps } from '../deps.ts'
import type { Credentials, HeaderParam } from '../operation.ts'
import { signedInWallet } from './sign-in.ts'

const keyPattern = /^[A-Za-z0-9_-]{16,128}$/
/** The pattern in words. */
export const keyForm = '16 to 128 characters of A-Z a-z 0-9 _ and -'

/** The descriptions of the HTTP headers that carry credentials. */
export const idempotencyKey: HeaderParam = {
  schema: {
    type: 'string',
    pattern: keyPattern.source,
    description: 'Yours, and new for each purchase. Sent again, it gives the same order.',
  },
}
export const bearerHeader = (description: string): Readonly<Record<string, HeaderParam>> => ({
  Authorization: {
    schema: { type: 'string', pattern: '^Bearer [A-Za-z0-9._-]{1,200}$', description },
  },
})
export const tokenHeader = bearerHeader(
  'Bearer and the accessToken of the first answer: shows that the order is yours.',
)
export const viewerHeaders: Readonly<Record<string, HeaderParam>> = {
  ...tokenHeader,
  'SIGN-IN-WITH-X': {
    schema: { type: 'string', description: 'Sign-in of the wallet that paid: shows the goods.' },
  },
}
/** How a wallet signs in; without it, the answer is 402 with the challenge to sign. */
export const signInHeader: Readonly<Record<string, HeaderParam>> = {
  'SIGN-IN-WITH-X': {
    schema: { type: 'string', description: 'The signed challenge of the 402, base64 of JSON.' },
  },
}

/** The parameter in the paths of an order. */
export const orderId = {
  orderId: { type: 'string', description: 'From the answer to the purchase' },
}

/**
 * The caller, by the credentials of the call.
 *
 * @throws Refusal `invalid_header`, `sign_in_invalid`
 */
export async function viewerOf(
  { signIn }: Pick<BuyingDeps, 'signIn'>,
  shown: Credentials,
): Promise<Viewer> {
  return { ...knownBy(shown), wallet: await signedInWallet(signIn, shown.signIn) }
}

/**
 * The caller, as far as it can be told without checking a signature.
 *
 * @throws Refusal `invalid_header`
 */
export function knownBy(
  { accessToken, idempotencyKey }: Credentials,
  payment?: PaymentPayload,
): Omit<Viewer, 'wallet'> {
  const keys = [idempotencyKey, paymentIdentifierOf(payment)]
  return { accessToken, keys: [...new Set(keys.filter((key) => key !== undefined))] }
}

/**
 * An idempotency key; undefined if none is given.
 *
 * @param parameter its name in the transport
 * @throws Refusal `invalid_header`
 */
export function keyOf(given: unknown, parameter: string): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && keyPattern.test(given)) return given
  throw badKey(parameter)
}

/** The id of x402's `payment-identifier` extension counts as an idempotency key. */
function paymentIdentifierOf(payment: PaymentPayload | undefined): string | undefined {
  const declared = payment?.extensions?.['payment-identifier']
  if (typeof declared !== 'object' || declared === null || !('info' in declared)) return undefined
  const { info } = declared
  if (typeof info !== 'object' || info === null || !('id' in info)) return undefined
  return keyOf(info.id, 'payment-identifier')
}

function badKey(parameter: string): Refusal {
  const message = `${parameter} must be ${keyForm}.`
  return new Refusal('invalid_header', message, { parameter })
}
