import { Refusal } from '../../lib/refusal.ts'
import type { Viewer } from '../../orders/access.ts'
import type { PaymentPayload } from '../../payments/x402.ts'
import type { BuyingDeps } from './deps.ts'
import { signedInWallet } from './sign-in.ts'

/** What a call shows of who sends it, as it came over its transport. */
export interface Credentials {
  readonly accessToken?: string | undefined
  /** A signed sign-in message, in base64. */
  readonly signIn?: string | string[] | undefined
  /** Checked by `keyOf`. */
  readonly idempotencyKey?: string | undefined
}

const keyPattern = /^[A-Za-z0-9_-]{16,128}$/

/**
 * Who sends a call, by what it shows.
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
 * Who sends a call, as far as that is told without checking a signature.
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
 * An idempotency key, or undefined where none is given.
 *
 * @param parameter what the transport calls it
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
  const message = `${parameter} must be 16 to 128 characters of A-Z a-z 0-9 _ and -.`
  return new Refusal('invalid_header', message, { parameter })
}
