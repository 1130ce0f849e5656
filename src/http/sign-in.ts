import { randomBytes } from 'node:crypto'
import type { PaymentRequired } from '@x402/core/types'
import {
  buildSIWxSchema,
  type CompleteSIWxInfo,
  createSIWxMessage,
  type EVMMessageVerifier,
  parseSIWxHeader,
  type SIWxPayload,
  validateSIWxMessage,
  verifySIWxSignature,
} from '@x402/extensions/sign-in-with-x'
import type { FastifyReply } from 'fastify'
import type { NonceStore } from '../orders/ports.ts'
import { Refusal } from '../primitives/refusal.ts'
import type { Digest } from '../secrets/tokens.ts'
import { answer402 } from './paywall.ts'
import type { Site } from './site.ts'

/** A challenge is good for this long. */
const challengeMs = 5 * 60_000
const headerMost = 8_192

export interface SignInDeps {
  readonly site: Site
  /** CAIP-2. */
  readonly network: string
  readonly nonces: NonceStore
  /** Marks a nonce as ours, so that nothing is stored before somebody signs. */
  readonly nonceMark: Digest
  /** Checks a message of a smart wallet on the chain; wallets with a key are checked without. */
  readonly verifyMessage: EVMMessageVerifier
  readonly now: () => Date
}

/** What a challenge says that a signature is for. */
export interface SignInAsk {
  readonly path: string
  readonly description: string
  /** Shown to whoever signs (EIP-4361): printable ASCII on one line. */
  readonly statement: string
}

/**
 * The wallet that signs in with this request, or undefined when none tries to.
 *
 * Only the package's parsing, checking and verifying are used. Its own bookkeeping of who paid for
 * what believes the client's word for the resource, so it is not.
 *
 * @param only what must have been signed for; without it, a sign-in for any path of the store will do
 * @throws Refusal `sign_in_invalid`
 */
export async function signedInWallet(
  deps: SignInDeps,
  header: string | string[] | undefined,
  only?: SignInAsk,
): Promise<string | undefined> {
  if (header === undefined || header === '') return undefined
  if (typeof header !== 'string' || header.length > headerMost) throw invalid('it is too long')
  const message = parse(header)
  requireFitting(message, deps.network)
  if (only) requireMeant(message, deps.site, only)
  const valid = await validateSIWxMessage(message, new URL(deps.site.url), {
    maxAge: challengeMs,
    checkNonce: (nonce) => isOurs(deps, nonce),
  })
  if (!valid.isValid)
    throw invalid(valid.invalidMessage ?? 'its message does not fit the challenge')
  const verified = await verifySIWxSignature(message, { evmVerifier: deps.verifyMessage })
  if (!verified.isValid) throw invalid('its signature does not fit its message')
  const expires = new Date(deps.now().getTime() + challengeMs)
  if (!(await deps.nonces.useOnce(message.nonce, expires)))
    throw invalid('its nonce was used before')
  return verified.payer
}

/** Answers 402 with nothing to pay and a challenge to sign, as the extension defines. */
export function sendSignInRequired(
  reply: FastifyReply,
  deps: SignInDeps,
  { path, description, statement }: SignInAsk,
): FastifyReply {
  const url = `${deps.site.url}${path}`
  const issued = deps.now()
  const required: PaymentRequired = {
    x402Version: 2,
    error: 'Sign in with the paying wallet',
    resource: {
      url,
      description,
      mimeType: 'application/json',
    },
    accepts: [],
    extensions: {
      'sign-in-with-x': {
        info: {
          domain: new URL(deps.site.url).host,
          uri: url,
          version: '1',
          nonce: newNonce(deps, issued),
          issuedAt: issued.toISOString(),
          expirationTime: new Date(issued.getTime() + challengeMs).toISOString(),
          statement,
          resources: [url],
        },
        supportedChains: [{ chainId: deps.network, type: 'eip191' }],
        schema: buildSIWxSchema(),
      },
    },
  }
  return answer402(reply, required, {
    message:
      'Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and send it as SIGN-IN-WITH-X. Nothing is charged.',
  })
}

/** Letters and digits only, as EIP-4361 wants: time, randomness, and our mark over both. */
function newNonce({ nonceMark }: SignInDeps, issued: Date): string {
  const stamp = issued.getTime().toString(16).padStart(12, '0')
  const body = stamp + randomBytes(12).toString('hex')
  return body + nonceMark.of(body)
}

function isOurs({ nonceMark, now }: SignInDeps, nonce: string): boolean {
  const body = nonce.slice(0, 36)
  const issued = Number.parseInt(nonce.slice(0, 12), 16)
  const fresh = now().getTime() - issued <= challengeMs
  return fresh && nonceMark.matches(body, nonce.slice(36))
}

function parse(header: string) {
  try {
    return parseSIWxHeader(header)
  } catch {
    throw invalid('it is not base64 of a sign-in message')
  }
}

/** What the package would throw on, or take although the challenge does not offer it. */
function requireFitting(message: SIWxPayload, network: string): void {
  if (message.chainId !== network || message.type !== 'eip191') {
    throw invalid(`it is not for ${network} with an eip191 signature`)
  }
  try {
    createSIWxMessage(message as CompleteSIWxInfo, message.address)
  } catch {
    throw invalid('its fields do not make a message of EIP-4361')
  }
}

/** What was signed to read something must not open the way to change something else. */
function requireMeant(
  { uri, statement }: SIWxPayload,
  site: Site,
  { path, statement: asked }: SignInAsk,
): void {
  if (uri !== `${site.url}${path}`) throw invalid(`it was signed for another address than ${path}`)
  if (statement !== asked) throw invalid('it was signed for something else than this request asks')
}

function invalid(why: string): Refusal {
  return new Refusal('sign_in_invalid', `The SIGN-IN-WITH-X header is not accepted: ${why}.`)
}
