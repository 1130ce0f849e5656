import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto'
import { HTTPFacilitatorClient } from '@x402/core/http'
import type { PaymentPayload, PaymentRequirements, VerifyResponse } from '@x402/core/types'
import { SignJWT } from 'jose'
import { type Hex, isHash, type TransactionReceipt } from 'viem'
import { paymentKeyOf, type X402Payment } from '../../payments/payment.ts'
import type { Listing } from '../../payments/ports.ts'
import { termsOf } from '../../payments/terms.ts'
import type { ChainNode } from './clients.ts'
import type { Sending } from './sending.ts'
import type { SignedTransfer } from './transfer.ts'

/** Who checks payments and submits them: ourselves with our own gas, or a hosted service. */
export interface Facilitator {
  /** Throws when it cannot tell whether the payment is good. */
  verify(tender: X402Payment): Promise<VerifyResponse>
  /** Submits a payment that was verified. Undefined if its transaction is not known. */
  settle(tender: X402Payment, settling: Settling): Promise<Submitted | undefined>
}

export interface Settling extends Pick<Sending, 'onWasted'> {
  readonly listing?: Listing | undefined
}

export interface Submitted {
  /** A hint of where to look, not a proof. */
  readonly hash: Hex
  /** The receipt, if our own node has returned it; its logs can prove the transfer. */
  readonly receipt?: TransactionReceipt | undefined
  /** Whether a hosted facilitator reports that it landed. */
  readonly isSaidToHaveLanded?: boolean
}

/** Longer than a few blocks, much shorter than an order's lease; after it, the logs are read. */
export const confirmationTimeoutMs = 15_000

export function hostedFacilitator(
  node: ChainNode,
  url: string,
  key: FacilitatorKey | undefined,
): Facilitator {
  const hosted = new HTTPFacilitatorClient({
    url,
    timeoutMs: confirmationTimeoutMs,
    ...(key && { createAuthHeaders: authHeaders(url, key) }),
  })
  return {
    verify: (tender) => hosted.verify(payloadOf(node, tender), requirementsOf(node, tender)),

    async settle(tender, { listing }) {
      const payload = { ...payloadOf(node, tender), ...(listing as Partial<PaymentPayload>) }
      const settled = await hosted.settle(payload, requirementsOf(node, tender))
      const submitted = submittedIn(settled.transaction)
      return submitted && { ...submitted, isSaidToHaveLanded: settled.success }
    },
  }
}

export function transferOf(tender: X402Payment): SignedTransfer {
  return { ...tender, from: tender.payer, to: tender.payTo }
}

/** Undefined if the text is not a transaction hash; then only the logs tell. */
export function submittedIn(transaction: string): Submitted | undefined {
  return isHash(transaction) ? { hash: transaction } : undefined
}

export function requirementsOf({ network }: ChainNode, tender: X402Payment): PaymentRequirements {
  return termsOf(tender.amount, { network, payTo: tender.payTo }) as PaymentRequirements
}

export function payloadOf(node: ChainNode, tender: X402Payment): PaymentPayload {
  return {
    x402Version: 2,
    accepted: requirementsOf(node, tender),
    payload: {
      signature: tender.signature,
      authorization: {
        from: tender.payer,
        to: tender.payTo,
        value: tender.amount.toString(),
        validAfter: tender.validAfter.toString(),
        validBefore: tender.validBefore.toString(),
        nonce: tender.nonce,
      },
    },
  }
}

export interface FacilitatorKey {
  /** Without an id, the bearer token of each request; with one, the key that signs a token for each request. */
  readonly secret: string
  readonly id?: string | undefined
}

const requests = { verify: 'POST', settle: 'POST', supported: 'GET' } as const
type Headers = Record<keyof typeof requests, Record<string, string>>

/** CDP accepts no token that is valid for longer. */
const tokenSeconds = 120
/** Ends a request that hangs, because the start of the store waits for it. */
const maxLookMs = 5_000

/** Makes the headers of the next request, or throws because the key is not usable. */
function authHeaders(url: string, { secret, id }: FacilitatorKey): () => Promise<Headers> {
  if (id === undefined) return () => eachWith(async () => secret)
  const { host, pathname } = new URL(url)
  const path = pathname.replace(/\/+$/, '')
  return async () => {
    const key = signingKeyIn(secret)
    return eachWith((name) => tokenFor(`${requests[name]} ${host}${path}/${name}`, { key, id }))
  }
}

async function eachWith(tokenOf: (name: keyof Headers) => Promise<string>): Promise<Headers> {
  const headerOf = async (name: keyof Headers) => ({
    authorization: `Bearer ${await tokenOf(name)}`,
  })
  const [verify, settle, supported] = await Promise.all([
    headerOf('verify'),
    headerOf('settle'),
    headerOf('supported'),
  ])
  return { verify, settle, supported }
}

/** A token for CDP, valid once, for one method at one URL. */
function tokenFor(use: string, { key, id }: { readonly key: KeyObject; readonly id: string }) {
  const alg = key.asymmetricKeyType === 'ec' ? 'ES256' : 'EdDSA'
  const now = Math.floor(Date.now() / 1_000)
  return new SignJWT({ uris: [use] })
    .setProtectedHeader({ alg, kid: id, typ: 'JWT', nonce: randomBytes(16).toString('hex') })
    .setIssuer('cdp')
    .setSubject(id)
    .setAudience(['cdp_service'])
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + tokenSeconds)
    .sign(key)
}

/** An EC key as PEM, or an Ed25519 key as base64 of its seed and its public key. */
function signingKeyIn(secret: string): KeyObject {
  if (secret.includes('-----BEGIN')) {
    const key = createPrivateKey(secret)
    const curve = key.asymmetricKeyDetails?.namedCurve
    if (curve !== 'prime256v1') throw new Error('it is no key of the curve P-256')
    return key
  }
  const bytes = Buffer.from(secret, 'base64')
  if (bytes.length !== 64) throw new Error('it is neither PEM nor 64 bytes in base64')
  const part = (from: number, to: number) => bytes.subarray(from, to).toString('base64url')
  const key = { kty: 'OKP', crv: 'Ed25519', d: part(0, 32), x: part(32, 64) }
  return createPrivateKey({ format: 'jwk', key })
}

export async function keyProblem(url: string, key: FacilitatorKey): Promise<string | undefined> {
  const signed = await authHeaders(url, key)().catch((error: Error) => error)
  if (signed instanceof Error) return `nothing can be signed with it: ${signed.message}`
  const init = { headers: signed.supported, signal: AbortSignal.timeout(maxLookMs) }
  const status = await fetch(`${url.replace(/\/+$/, '')}/supported`, init).then(
    (told) => told.status,
    () => undefined,
  )
  return status === 401 || status === 403 ? 'the facilitator refuses it' : undefined
}

/** A payment that was handed over is submitted by ourselves after this. */
const takeOverMs = 30_000
/** How long until the next settlement is handed over if the last was not reported to have landed. */
const againMs = 3_600_000

/**
 * Checks and settles by ourselves, and hands a settlement to a hosted facilitator from time to time: an index lists
 * the sellers that were paid through its facilitator within a month. Each process counts on its own.
 *
 * What was handed over is left to the facilitator for {@link takeOverMs}. After that we submit it too: the token
 * accepts an authorization once, whoever submits it.
 *
 * @param everyMs how long until the next settlement is handed over if the last was reported to have landed
 */
export function occasionally(
  own: Facilitator,
  hosted: Facilitator,
  { everyMs, now }: { readonly everyMs: number; readonly now: () => Date },
): Facilitator {
  let dueAt = 0
  // Only the last one: the next is handed over an hour later at the earliest.
  let handedOver: { readonly payment: string; readonly at: number } | undefined

  async function handOver(tender: X402Payment, settling: Settling, at: number) {
    const payment = paymentKeyOf(tender)
    dueAt = at + againMs
    handedOver = { payment, at }
    try {
      const submitted = await hosted.settle(tender, settling)
      if (submitted?.isSaidToHaveLanded) dueAt = at + everyMs
      return submitted
    } catch (error) {
      if (!isUnreached(error)) throw error
      handedOver = undefined
      return own.settle(tender, settling)
    }
  }

  return {
    verify: (tender) => own.verify(tender),

    async settle(tender, settling) {
      const payment = paymentKeyOf(tender)
      const at = now().getTime()
      const since = handedOver?.payment === payment ? handedOver.at : undefined
      if (since === undefined && at >= dueAt) return handOver(tender, settling, at)
      if (since !== undefined && at - since < takeOverMs) return undefined
      return own.settle(tender, settling)
    },
  }
}

/** The request reached nobody, so nobody acts on it. */
function isUnreached(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}
