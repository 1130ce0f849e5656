import {
  type CompleteSIWxInfo,
  createSIWxPayload,
  encodeSIWxHeader,
} from '@x402/extensions/sign-in-with-x'
import { expect } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import type { Call, Read } from './reading.ts'

export const limitsPath = '/api/catalog/limits'
export const json = { 'content-type': 'application/json' }
export type Method = 'GET' | 'PUT' | 'DELETE'

const requestOf = (method: Method, body?: unknown) => ({
  method,
  headers: body === undefined ? {} : json,
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
})

/** What wallets do with their limits at this store. */
export function limitsAt(call: Call) {
  /** A sign-in as the challenge of this request asks for it. */
  async function signedHeader(wallet: Buyer, method: Method, body?: unknown, path = limitsPath) {
    const challenge = await call(path, requestOf(method, body))
    expect(challenge.status, challenge.text).toBe(402)
    const { info, supportedChains } = challenge.body.extensions['sign-in-with-x']
    const full: CompleteSIWxInfo = { ...info, ...supportedChains[0] }
    return encodeSIWxHeader(await createSIWxPayload(full, wallet.account, info.uri))
  }

  async function as(wallet: Buyer, method: Method, body?: unknown): Promise<Read> {
    const header = await signedHeader(wallet, method, body)
    const { headers, ...request } = requestOf(method, body)
    return call(limitsPath, { ...request, headers: { ...headers, 'sign-in-with-x': header } })
  }

  /** A buyer whose wallet has spending limits. */
  async function limitedTo(body: Record<string, unknown>): Promise<Buyer> {
    const wallet = await newBuyer()
    const answer = await as(wallet, 'PUT', body)
    expect(answer.status, answer.text).toBe(200)
    return wallet
  }

  return { signedHeader, as, limitedTo }
}
