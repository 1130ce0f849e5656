import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { transferTypes } from '../src/adapters/chain/token.ts'
import { type BenchStore, benchOffer, type Parts } from './shop.ts'

export const purchasePath = '/api/catalog/vouchers/purchase/info'
const body = JSON.stringify({ offerId: benchOffer, firstName: 'Ada', lastName: 'Lovelace' })

/** The times of a series of purchases; milliseconds. */
export interface Bought {
  /** The unpaid call that names the price. */
  readonly unpaid: readonly number[]
  /** From the request to the goods, all parts included. */
  readonly total: readonly number[]
  /** The time in the store itself, without its waiting for the chain and the supplier. */
  readonly own: readonly number[]
}

/** Buys one voucher after the other. The first `warmUp` purchases are not counted. */
export async function buyAgainAndAgain(
  { chain }: Pick<Parts, 'chain'>,
  { port, own }: BenchStore,
  { purchases, warmUp }: { readonly purchases: number; readonly warmUp: number },
): Promise<Bought> {
  const total: number[] = []
  const unpaid: number[] = []
  const before = own.length
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.faucet(account.address)
  for (let bought = 0; bought < purchases; bought += 1) {
    // A new loopback address for every 25 purchases keeps them below the store's rate limit.
    const localAddress = `127.0.${Math.floor(bought / 25) + 1}.1`
    const asked = await askPrice(port, localAddress)
    unpaid.push(asked.took)
    const payment = await sign(account, asked.terms)
    total.push(await pay(port, localAddress, payment))
  }
  // The last answer can arrive here a moment before the store records its time.
  while (own.length < before + purchases) await delay(1)
  const counted = (all: readonly number[]) => all.slice(warmUp)
  return { unpaid: counted(unpaid), total: counted(total), own: counted(own.slice(before)) }
}

/** Calls without a payment; returns the terms to sign, and how many milliseconds the answer took. */
export async function askPrice(
  port: number,
  localAddress: string,
): Promise<{ readonly terms: Terms; readonly took: number }> {
  const startedAt = performance.now()
  const { demand } = await send(port, localAddress, {})
  const took = performance.now() - startedAt
  const { accepts } = JSON.parse(Buffer.from(demand, 'base64').toString())
  return { terms: accepts[0], took }
}

/** Buys, and returns how many milliseconds it took. @throws when the status is not 200 */
export async function pay(port: number, localAddress: string, payment: string): Promise<number> {
  const startedAt = performance.now()
  const answer = await send(port, localAddress, { 'payment-signature': payment })
  const took = performance.now() - startedAt
  if (answer.status !== 200)
    throw new Error(`A purchase was answered ${answer.status}: ${answer.body}`)
  return took
}

export type Account = ReturnType<typeof privateKeyToAccount>

export interface Terms {
  readonly asset: Hex
  readonly payTo: Hex
  readonly amount: string
  readonly extra: { readonly name: string; readonly version: string }
}

/** A signed payment for these terms, as the value of the header. */
export async function sign(account: Account, accepted: Terms): Promise<string> {
  const validBefore = Math.floor(Date.now() / 1_000) + 300
  const nonce = `0x${randomBytes(32).toString('hex')}` as Hex
  const { name, version } = accepted.extra
  const signature = await account.signTypedData({
    domain: { name, version, chainId: 84_532, verifyingContract: accepted.asset },
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: account.address,
      to: accepted.payTo,
      value: BigInt(accepted.amount),
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce,
    },
  })
  const authorization = {
    from: account.address,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: '0',
    validBefore: String(validBefore),
    nonce,
  }
  const payload = { x402Version: 2, accepted, payload: { signature, authorization } }
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

function send(port: number, localAddress: string, headers: Record<string, string>) {
  return new Promise<{ status: number; demand: string; body: string }>((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: purchasePath,
      localAddress,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    }
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          demand: String(response.headers['payment-required'] ?? ''),
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
