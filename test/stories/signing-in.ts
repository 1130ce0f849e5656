import {
  type CompleteSIWxInfo,
  createSIWxPayload,
  encodeSIWxHeader,
} from '@x402/extensions/sign-in-with-x'
import { expect } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import type { Answer, Call } from './requests.ts'

export const limitsPath = '/api/catalog/limits'

/** A `SIGN-IN-WITH-X` header as the challenge of this request asks for it. */
export async function signInFor(
  call: Call,
  { account }: Buyer,
  path: string,
  request: RequestInit = {},
): Promise<string> {
  const challenge = await call(path, request)
  expect(challenge.status, challenge.text).toBe(402)
  const { info, supportedChains } = challenge.body.extensions['sign-in-with-x']
  const full: CompleteSIWxInfo = { ...info, ...supportedChains[0] }
  return encodeSIWxHeader(await createSIWxPayload(full, account, info.uri))
}

/** What wallets do with their limits at this store. */
export function limitsAt(call: Call) {
  async function as(wallet: Buyer, method: string, fields?: unknown): Promise<Answer> {
    const headers = fields === undefined ? {} : { 'content-type': 'application/json' }
    const request = { method, body: fields === undefined ? null : JSON.stringify(fields) }
    const signIn = await signInFor(call, wallet, limitsPath, { ...request, headers })
    return call(limitsPath, { ...request, headers: { ...headers, 'sign-in-with-x': signIn } })
  }

  /** A buyer whose wallet has spending limits. */
  async function limitedTo(fields: Record<string, unknown>): Promise<Buyer> {
    const wallet = await newBuyer()
    const answer = await as(wallet, 'PUT', fields)
    expect(answer.status, answer.text).toBe(200)
    return wallet
  }

  return { as, limitedTo }
}
