import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto'
import { x402Facilitator } from '@x402/core/facilitator'
import { HTTPFacilitatorClient } from '@x402/core/http'
import type {
  Network as NetworkId,
  PaymentPayload,
  PaymentRequirements,
  VerifyResponse,
} from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { SignJWT } from 'jose'
import {
  encodeFunctionData,
  type Hex,
  isHash,
  parseErc6492Signature,
  type TransactionReceipt,
} from 'viem'
import { type Listing, paymentKeyOf, type X402Payment } from '../../payments/payment.ts'
import { termsOf } from '../../payments/terms.ts'
import type { Chain, ChainNode } from './clients.ts'
import { isSilence } from './rpc.ts'
import { sendCall } from './sending.ts'
import {
  costOf,
  costOfDeployment,
  floatOf,
  gasOfPlain,
  isTooDear,
  limitOf,
  maxDeploymentGas,
  maxSettlementGas,
  sendTransfer,
  transferOf,
} from './token.ts'
import { ownReasons } from './verdicts.ts'

export interface Facilitator {
  /** Throws when it cannot tell whether the payment is good. */
  verify(payment: X402Payment): Promise<VerifyResponse>
  settle(payment: X402Payment, listing?: Listing): Promise<Submitted>
}

export interface Submitted {
  /** A hint of where to look, not a proof; absent if the transaction is not known. */
  readonly hash?: Hex
  /** The receipt, if our own node has returned it; its logs can prove the transfer. */
  readonly receipt?: TransactionReceipt | undefined
  /** Whether a hosted facilitator reports that it landed. */
  readonly isSaidToHaveLanded?: boolean
  readonly wasted?: number
}

/** Longer than a few blocks, much shorter than an order's lease; after it, the logs are read. */
const confirmationTimeoutMs = 15_000

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
    verify: (payment) => hosted.verify(payloadOf(node, payment), requirementsOf(node, payment)),

    async settle(payment, listing) {
      const payload = { ...payloadOf(node, payment), ...(listing as Partial<PaymentPayload>) }
      const settled = await hosted.settle(payload, requirementsOf(node, payment))
      return { ...submittedIn(settled.transaction), isSaidToHaveLanded: settled.success }
    },
  }
}

function submittedIn(transaction: string): Submitted {
  return isHash(transaction) ? { hash: transaction } : {}
}

function requirementsOf({ network }: ChainNode, payment: X402Payment): PaymentRequirements {
  return termsOf(payment.amount, { network, payTo: payment.payTo }) as PaymentRequirements
}

function payloadOf(node: ChainNode, payment: X402Payment): PaymentPayload {
  return {
    x402Version: 2,
    accepted: requirementsOf(node, payment),
    payload: {
      signature: payment.signature,
      authorization: {
        from: payment.payer,
        to: payment.payTo,
        value: payment.amount.toString(),
        validAfter: payment.validAfter.toString(),
        validBefore: payment.validBefore.toString(),
        nonce: payment.nonce,
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
  const headers = await authHeaders(url, key)().catch((error: Error) => error)
  if (headers instanceof Error) return `nothing can be signed with it: ${headers.message}`
  const init = { headers: headers.supported, signal: AbortSignal.timeout(maxLookMs) }
  const status = await fetch(`${url.replace(/\/+$/, '')}/supported`, init).then(
    (response) => response.status,
    () => undefined,
  )
  return status === 401 || status === 403 ? 'the facilitator refuses it' : undefined
}

const takeOverMs = 30_000
/** How long until the next settlement is handed over if the last was not reported to have landed. */
const againMs = 3_600_000

/** An index lists only sellers that its own facilitator paid within a month. What that does not submit, we do. */
export function occasionally(
  own: Facilitator,
  hosted: Facilitator,
  { everyMs, now }: { readonly everyMs: number; readonly now: () => Date },
): Facilitator {
  let dueAt = 0
  let handedOver: { readonly key: string; readonly at: number } | undefined

  async function handOver(payment: X402Payment, listing: Listing | undefined, at: number) {
    const key = paymentKeyOf(payment)
    dueAt = at + againMs
    handedOver = { key, at }
    try {
      const submitted = await hosted.settle(payment, listing)
      if (submitted.hash && submitted.isSaidToHaveLanded) dueAt = at + everyMs
      return submitted
    } catch (error) {
      if (!isUnreached(error)) throw error
      handedOver = undefined
      return own.settle(payment)
    }
  }

  return {
    verify: (payment) => own.verify(payment),

    async settle(payment, listing) {
      const key = paymentKeyOf(payment)
      const at = now().getTime()
      const since = handedOver?.key === key ? handedOver.at : undefined
      if (since === undefined && at >= dueAt) return handOver(payment, listing, at)
      if (since !== undefined && at - since < takeOverMs) return {}
      return own.settle(payment)
    },
  }
}

function isUnreached(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}

/** The suffix of a signature of a wallet that has yet to be deployed (ERC-6492). */
const undeployedMark = '6492'.repeat(16)

/** @param factories that may be called to deploy a payer's wallet, at our expense */
export function ownFacilitator(
  chain: Chain,
  factories: readonly string[],
  withinMs = confirmationTimeoutMs,
): Facilitator {
  // Created for each call: a shared one would remember what it sent, and wait for what the chain has dropped.
  const packaged = (observed: Observed, untilMs?: number) => {
    const scheme = new ExactEvmScheme(observedSigner(chain, observed, untilMs), {
      eip6492AllowedFactories: [...factories],
    })
    return new x402Facilitator().register(chain.network.id as NetworkId, scheme)
  }
  const ifAffordable = newAffordance(chain)
  return {
    async verify(payment) {
      const gas = await gasOfPlain(chain, payment)
      if (gas !== undefined) {
        if (await isTooDear(chain, payment, limitOf(gas))) return invalid('too_dear')
        return { isValid: true, payer: payment.payer }
      }
      const observed: Observed = { isContract: false, silence: undefined, wasted: 0 }
      const verified = await packaged(observed).verify(
        payloadOf(chain, payment),
        requirementsOf(chain, payment),
      )
      if (observed.silence) throw observed.silence
      return verified.isValid ? withinCost(chain, payment, observed, verified) : verified
    },

    settle: (payment) => ifAffordable(payment, send),
  }

  async function send(payment: X402Payment): Promise<Submitted> {
    if (!payment.signature.toLowerCase().endsWith(undeployedMark)) {
      const sent = await sendTransfer(chain, transferOf(payment), { withinMs })
      return sent.receipt?.status === 'reverted' ? { ...sent, wasted: 1 } : sent
    }
    const observed: Observed = { isContract: false, silence: undefined, wasted: 0 }
    const settled = await packaged(observed, performance.now() + withinMs).settle(
      payloadOf(chain, payment),
      requirementsOf(chain, payment),
    )
    return { ...submittedIn(settled.transaction), wasted: observed.wasted }
  }
}

/**
 * Each of many payments passes the checks while none of them is in a block, and all that the wallet cannot pay are
 * reverted at our expense. So one is sent beside others of its wallet only if the balance covers all of them, and
 * otherwise later, when its order is next looked at.
 */
function newAffordance(chain: Chain) {
  const underWay = new Map<string, bigint>()
  return async (payment: X402Payment, send: Facilitator['settle']): Promise<Submitted> => {
    const { payer, amount } = payment
    const wallet = payer.toLowerCase()
    const others = underWay.get(wallet) ?? 0n
    underWay.set(wallet, others + amount)
    try {
      const isCovered = others === 0n || others + amount <= (await floatOf(chain, payer))
      return isCovered ? await send(payment) : {}
    } finally {
      const left = (underWay.get(wallet) ?? 0n) - amount
      if (left > 0n) underWay.set(wallet, left)
      else underWay.delete(wallet)
    }
  }
}

/** A contract decides what its signature check costs us, and a payer what its deployment does. */
async function withinCost(
  chain: Chain,
  payment: X402Payment,
  { isContract }: Observed,
  verified: VerifyResponse,
): Promise<VerifyResponse> {
  const { address: to, data, signature } = parseErc6492Signature(payment.signature as Hex)
  const cost =
    isContract || !to || !data
      ? await costOf(chain, { ...transferOf(payment), signature })
      : await costOfDeployment(chain, payment, { to, data })
  return cost === 'bearable' ? verified : invalid(cost)
}

function invalid(reason: keyof typeof ownReasons): VerifyResponse {
  return { isValid: false, invalidReason: ownReasons[reason] }
}

type Signer = ReturnType<typeof toFacilitatorEvmSigner>

/** What the x402 package saw while it looked at one key, and does not report. */
interface Observed {
  isContract: boolean
  silence: Error | undefined
  wasted: number
}

/** Ten times what a settlement may cost. Gas that a contract burns here costs only the node's time. */
const maxSimulationGas = 10n * maxSettlementGas

/** The package asks for it in parallel, and nobody handles the second of two failures: that would end the process. */
const anyCode: Hex = '0x00'

const payersCode = ['isValidSignature', 'transferWithAuthorization']

/** The package takes a node's silence for a refusal. @param untilMs by `performance`; undefined: nothing may be sent */
function observedSigner(chain: Chain, observed: Observed, untilMs?: number): Signer {
  const { gasAccount, network, reader } = chain
  const noting = async <T>(response: Promise<T>): Promise<T> => {
    try {
      return await response
    } catch (error) {
      if (isSilence(error)) observed.silence ??= error as Error
      throw error
    }
  }
  const send = async (call: { to: Hex; data: Hex }, most: bigint) => {
    if (untilMs === undefined) throw new Error('To verify a key takes no transaction.')
    const gas = await reader.estimateGas({ ...call, account: gasAccount.address })
    if (gas > most) throw new Error(`The transaction would cost ${gas} gas.`)
    return sendCall(chain, { ...call, gas }, { withinMs: untilMs - performance.now() })
  }
  return toFacilitatorEvmSigner({
    address: gasAccount.address,
    async getCode({ address }) {
      if (address.toLowerCase() === network.usdc.toLowerCase()) return anyCode
      const code = await noting(reader.getCode({ address }))
      if (code !== undefined) observed.isContract = true
      return code
    },
    readContract: (args) => {
      const gas = payersCode.includes(args.functionName) ? { gas: maxSimulationGas } : {}
      return noting(reader.readContract({ ...args, ...gas } as never))
    },
    verifyTypedData: reader.verifyTypedData as never,
    async writeContract({ address, ...call }) {
      const data = encodeFunctionData(call)
      const { hash, receipt } = await send({ to: address, data }, maxSettlementGas)
      if (receipt?.status === 'reverted') observed.wasted += 1
      return hash
    },
    async sendTransaction(call) {
      const { hash, receipt } = await send(call, maxDeploymentGas)
      // Deploying a wallet costs gas and moves no money.
      if (receipt) observed.wasted += 1
      return hash
    },
    waitForTransactionReceipt: ({ hash }) => reader.getTransactionReceipt({ hash }),
  })
}
