import { randomBytes } from 'node:crypto'
import type { PaymentRequired } from '@x402/core/types'
import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  declareSIWxExtension,
  parseSIWxHeader,
  SIGN_IN_WITH_X,
  type SIWxExtension,
  type SIWxPayload,
  validateSIWxMessage,
  verifySIWxSignature,
} from '@x402/extensions/sign-in-with-x'
import * as z from 'zod'
import { Refusal } from '../../lib/refusal.ts'
import type { Viewer } from '../../orders/replay.ts'
import type { PaymentPayload } from '../../payments/terms.ts'
import type {
  BuyingDeps,
  Credentials,
  HeaderParam,
  SignInDeps,
  SignInScope,
  Site,
} from '../operation.ts'
import { demandShape } from './payment-required.ts'

const keyPattern = /^[A-Za-z0-9_-]{16,128}$/
export const keyForm = '16 to 128 characters of A-Z a-z 0-9 _ and -'

export const idempotencyKey: HeaderParam = {
  schema: {
    type: 'string',
    pattern: keyPattern.source,
    description:
      'Yours: random, and new for each purchase. Sent again, it gives the same order; alone, it finds the order and its goods.',
  },
}
export const tokenHeader: Readonly<Record<string, HeaderParam>> = {
  Authorization: {
    schema: {
      type: 'string',
      pattern: '^Bearer [A-Za-z0-9._-]{1,200}$',
      description: 'Bearer and the accessToken of the first answer: shows that the order is yours.',
    },
  },
}
const signedHeader = (description: string): Readonly<Record<string, HeaderParam>> => ({
  'SIGN-IN-WITH-X': { schema: { type: 'string', description } },
})
export const viewerHeaders = {
  ...tokenHeader,
  ...signedHeader('Sign-in of the wallet that paid: shows the goods.'),
}
/** Besides, the key of a purchase shows and finds its order. */
export const ownerHeaders = {
  ...viewerHeaders,
  'Idempotency-Key': {
    schema: { ...idempotencyKey.schema, description: 'That of the purchase: shows the goods.' },
  },
}
export const signInHeader = signedHeader('The signed challenge of the 402, base64 of JSON.')

export const orderId = {
  orderId: { type: 'string', description: 'From the answer to the purchase' },
}

export async function viewerOf(
  { signIn }: Pick<BuyingDeps, 'signIn'>,
  credentials: Credentials,
): Promise<Viewer> {
  return {
    ...viewerWithoutWallet(credentials),
    wallet: await signedInWallet(signIn, credentials.signIn),
  }
}

/** Without checking a signature. @throws Refusal `invalid_header` */
export function viewerWithoutWallet(
  { accessToken, idempotencyKey }: Credentials,
  payment?: PaymentPayload,
): Omit<Viewer, 'wallet'> {
  const keys = [idempotencyKey, paymentIdentifierOf(payment)]
  return { accessToken, keys: [...new Set(keys.filter((key) => key !== undefined))] }
}

export function keyOf(value: unknown, parameter: string): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && keyPattern.test(value)) return value
  throw new Refusal('invalid_header', `${parameter} must be ${keyForm}.`, { parameter })
}

const PaymentIdentifier = z.object({ info: z.object({ id: z.unknown() }) })

/** The id of x402's `payment-identifier` extension counts as an idempotency key. */
function paymentIdentifierOf(payment: PaymentPayload | undefined): string | undefined {
  const { data } = PaymentIdentifier.safeParse(payment?.extensions?.['payment-identifier'])
  return keyOf(data?.info.id, 'payment-identifier')
}

export const SignInRequiredAnswer = z
  .object({ ...demandShape, accepts: z.array(z.never()).max(0), message: z.string() })
  .meta({ id: 'SignInRequired' })

const challengeMs = 5 * 60_000
const maxEncoded = 8_192

/** Without the package's records of who paid for what: they trust the client's resource. */
export async function signedInWallet(
  deps: SignInDeps,
  encoded: string | string[] | undefined,
  scope?: SignInScope,
): Promise<string | undefined> {
  if (encoded === undefined || encoded === '') return undefined
  if (typeof encoded !== 'string' || encoded.length > maxEncoded)
    throw signInInvalid('it is too long')
  const message = parseSignIn(encoded)
  requireFitting(message, deps.network)
  if (scope) requireScope(message, deps.site, scope)
  const valid = await validateSIWxMessage(message, new URL(deps.site.url), {
    maxAge: challengeMs,
    checkNonce: (nonce) => isOurs(deps, nonce),
  })
  if (!valid.isValid)
    throw signInInvalid(valid.invalidMessage ?? 'its message does not fit the challenge')
  const verified = await verifySIWxSignature(message, { evmVerifier: deps.verifyMessage })
  if (!verified.isValid) throw signInInvalid('its signature does not fit its message')
  const expires = new Date(deps.now().getTime() + challengeMs)
  if (!(await deps.nonces.useOnce(message.nonce, expires)))
    throw signInInvalid('its nonce was used before')
  return verified.payer
}

export async function signedInIfValid(
  deps: SignInDeps,
  encoded: Credentials['signIn'],
): Promise<string | undefined> {
  try {
    return await signedInWallet(deps, encoded)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

export function signInRequired(deps: SignInDeps, scope: SignInScope): PaymentRequired {
  const { network, site } = deps
  const { description, statement } = scope
  const url = `${site.url}${scope.path}`
  const issued = deps.now()
  const declared = declareSIWxExtension({ network, statement })[SIGN_IN_WITH_X] as SIWxExtension
  return {
    x402Version: 2,
    error: 'Sign in with the paying wallet',
    resource: { url, description, mimeType: 'application/json' },
    accepts: [],
    extensions: {
      [SIGN_IN_WITH_X]: {
        // Nonce and times are ours, so that we can recognise our nonces.
        info: {
          ...declared.info,
          domain: new URL(site.url).host,
          uri: url,
          nonce: newNonce(deps, issued),
          issuedAt: issued.toISOString(),
          expirationTime: new Date(issued.getTime() + challengeMs).toISOString(),
          resources: [url],
        },
        supportedChains: declared.supportedChains,
        schema: declared.schema,
      },
    },
  }
}

/** Letters and digits only, as EIP-4361 requires: the time, randomness, and our mark over both. */
function newNonce({ nonceMark }: SignInDeps, issued: Date): string {
  const stamp = issued.getTime().toString(16).padStart(12, '0')
  const body = stamp + randomBytes(12).toString('hex')
  return body + nonceMark.of(body)
}

function isOurs({ nonceMark, now }: SignInDeps, nonce: string): boolean {
  const issued = Number.parseInt(nonce.slice(0, 12), 16)
  const isFresh = now().getTime() - issued <= challengeMs
  return isFresh && nonceMark.matches(nonce.slice(0, 36), nonce.slice(36))
}

function parseSignIn(encoded: string) {
  try {
    return parseSIWxHeader(encoded)
  } catch {
    throw signInInvalid('it is not base64 of a sign-in message')
  }
}

/** Rejects messages on which the package would throw, or that it would accept although no challenge offers them. */
function requireFitting(message: SIWxPayload, network: string): void {
  if (message.chainId !== network || message.type !== 'eip191') {
    throw signInInvalid(`it is not for ${network} with an eip191 signature`)
  }
  try {
    createSIWxMessage(message as CompleteSIWxInfo, message.address)
  } catch {
    throw signInInvalid('its fields do not make a message of EIP-4361')
  }
}

/** A signature for one purpose, such as reading, must not be accepted for another, such as a change. */
function requireScope({ uri, statement }: SIWxPayload, site: Site, scope: SignInScope): void {
  if (uri !== `${site.url}${scope.path}`) {
    throw signInInvalid(`it was signed for another address than ${scope.path}`)
  }
  if (statement !== scope.statement)
    throw signInInvalid('it was signed for something else than this request asks')
}

function signInInvalid(why: string): Refusal {
  return new Refusal('sign_in_invalid', `The SIGN-IN-WITH-X header is not accepted: ${why}.`)
}
