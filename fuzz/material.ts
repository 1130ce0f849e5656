import { type CompleteSIWxInfo, createSIWxPayload } from '@x402/extensions/sign-in-with-x'
import { type Hex, keccak256, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Buyer, newBuyer } from '../test/stories/buyer.ts'
import type { ChainParts } from '../test/stories/chain.ts'
import { bodyFor, buy, get, termsOf } from '../test/stories/requests.ts'
import { type Kind, kinds, type Material } from './draft.ts'

/** The material for inputs against one store, and the secrets that none of its answers may contain. */
export interface Source {
  readonly material: () => Promise<Material>
  readonly secrets: readonly string[]
  /** The buyer's names; no log line may contain one. */
  readonly person: readonly string[]
}

export interface SourceOptions {
  readonly url: string
  readonly chain: ChainParts
  readonly seed: number
  readonly webhook: Material['webhook']
}

const person = { firstName: 'Zephyrine', lastName: 'Quillfeather' }

/**
 * Buys one voucher, so that there is something to steal, and creates two wallets: one without funds, and one
 * that signs in as the buyer.
 */
export async function openSource(options: SourceOptions): Promise<Source> {
  const { url, chain, seed, webhook } = options
  const buyer = await newBuyer(undefined, chain)
  const [poor, stranger] = await Promise.all([
    newBuyer(0n, chain, privateKeyToAccount(keyOf(seed, 'poor'))),
    newBuyer(0n, chain, privateKeyToAccount(keyOf(seed, 'stranger'))),
  ])
  const { paid, secrets } = await buyOne(url, buyer)
  return {
    secrets,
    person: Object.values(person),
    material: async () => ({
      host: new URL(url).host,
      unpaid: await unpaidBy(url, poor, seed),
      paid,
      signIn: await signInFor(url, buyer, stranger),
      webhook,
    }),
  }
}

async function buyOne(url: string, buyer: Buyer) {
  const body = { ...bodyFor('voucher', 'OK'), ...person }
  const key = `quillfeather-key-${'z'.repeat(20)}`
  const { answer, payment } = await buy({ url }, buyer, 'voucher', body, {
    headers: { 'idempotency-key': key },
  })
  if (answer.status !== 200) throw new Error(`The purchase ended as ${answer.status}`)
  const { orderId, paymentId, transactionHash, accessToken, orders } = answer.body
  const paid = {
    kind: 'voucher' as const,
    body,
    payment: decoded(payment.header),
    orderId,
    paymentId,
    transactionHash,
  }
  return { paid, secrets: [accessToken, key, orders[0].result.code] }
}

async function unpaidBy(url: string, poor: Buyer, seed: number): Promise<Record<Kind, unknown>> {
  const signed = kinds.map(async (kind) => {
    const accepts = await termsOf(url, kind, bodyFor(kind, 'OK'))
    const { header } = await poor.sign(accepts, { nonce: keyOf(seed, `nonce of ${kind}`) })
    return [kind, decoded(header)] as const
  })
  return Object.fromEntries(await Promise.all(signed)) as Record<Kind, unknown>
}

/** A sign-in for the buyer's address that is valid except that a stranger signed it. */
async function signInFor(url: string, buyer: Buyer, stranger: Buyer): Promise<unknown> {
  const { body } = await get(url, '/api/catalog/orders')
  const { info, supportedChains } = body.extensions['sign-in-with-x']
  const challenge: CompleteSIWxInfo = { ...info, ...supportedChains[0] }
  const payload = await createSIWxPayload(challenge, stranger.account, challenge.uri)
  return { ...payload, address: buyer.address }
}

function keyOf(seed: number, purpose: string): Hex {
  return keccak256(toBytes(`fuzz|${seed}|${purpose}`))
}

function decoded(header: string): unknown {
  return JSON.parse(Buffer.from(header, 'base64').toString())
}
