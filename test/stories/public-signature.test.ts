import { decodeFunctionData, type Hex, serializeSignature } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { usdcAbi } from './chain.ts'
import { type Answer, bodyFor, buy, get, type Kind, post, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

// A payment is public once it is on the chain: whoever rebuilds it learns nothing and gets nothing.

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

/** Rebuilds the payment out of the transaction that settled it, as anybody can who reads the chain. */
async function copyFromChain(hash: Hex, accepts: Accepts): Promise<string> {
  const { input } = await buyer.reader.getTransaction({ hash })
  const { functionName, args } = decodeFunctionData({ abi: usdcAbi, data: input })
  if (functionName !== 'transferWithAuthorization') throw new Error(`A call of ${functionName}`)
  const [from, to, value, validAfter, validBefore, nonce, ...rest] = args
  const [first, r, s] = rest
  const signature =
    typeof first === 'string'
      ? first
      : serializeSignature({ v: BigInt(first), r: r as Hex, s: s as Hex })
  const authorization = {
    ...{ from, to, nonce, value: value.toString() },
    ...{ validAfter: validAfter.toString(), validBefore: validBefore.toString() },
  }
  const payload = { x402Version: 2, accepted: accepts, payload: { signature, authorization } }
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

/** What anybody can make of the public nonce of a payment, who has no signature of its payer. */
function forged(header: string, changes: object, accepted: object = {}): string {
  const payload = JSON.parse(Buffer.from(header, 'base64').toString())
  Object.assign(payload.payload, { signature: `0x${'5a'.repeat(65)}` })
  Object.assign(payload.payload.authorization, changes)
  Object.assign(payload.accepted, accepted)
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

type Send = (
  kind: Kind,
  body: unknown,
  payment: string,
  more?: Record<string, string>,
) => Promise<Answer>

const overHttp: Send = (kind, body, payment, more = {}) =>
  post(store.url, purchasePath(kind), body, { 'payment-signature': payment, ...more })

const overMcp: Send = (_, body, payment, more = {}) => {
  const meta = { 'x402/payment': JSON.parse(Buffer.from(payment, 'base64').toString()) }
  const params = { name: 'buy', arguments: body, _meta: meta }
  const headers = { accept: 'application/json, text/event-stream', ...more }
  return post(store.url, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
}

/** All that a public hash shows of an order. */
const standing = [
  ...['message', 'refund_state', 'refund_state_updated_at'],
  ...['state', 'state_updated_at', 'transactionHash'],
]

test('a copied payment shows no more than its hash, and its buyer the goods', async () => {
  const body = bodyFor('voucher', 'OK')
  const headers = { 'idempotency-key': 'known-to-the-buyer-only-voucher' }
  const mine = await buy(store, buyer, 'voucher', body, { headers })
  const { orderId, paymentId, transactionHash, orders } = mine.answer.body
  const balance = await buyer.balance()
  const header = await copyFromChain(transactionHash, mine.accepts)
  const guesses: Record<string, string>[] = [
    {},
    { 'idempotency-key': 'a-key-that-was-guessed-1' },
    { authorization: `Bearer ${orderId}` },
    { authorization: `Bearer ${paymentId}` },
  ]
  for (const guess of guesses) {
    for (const { status, headers: told, body: shown } of [
      await overHttp('voucher', body, header, guess),
      await get(store.url, `/api/catalog/orders?transactionHash=${transactionHash}`, guess),
    ]) {
      expect([status, Object.keys(shown).sort()]).toEqual([200, standing])
      const everything = JSON.stringify([shown, ...told])
      for (const secret of [orderId, paymentId, 'voucher', 'TEST-VOUCHER-OK'])
        expect(everything).not.toContain(secret)
    }
    for (const by of [`/${orderId}`, `?paymentId=${paymentId}`]) {
      const read = await get(store.url, `/api/catalog/orders${by}`, guess)
      expect(read).toMatchObject({ status: 200, body: { orderId, orders: [{ result: null }] } })
      expect(JSON.stringify(read.body)).not.toContain(orders[0].result.code)
    }
  }
  expect(await buyer.balance()).toBe(balance)
  // What the stranger rebuilt is the payment itself.
  expect((await overHttp('voucher', body, header, headers)).body.orders).toEqual(orders)
})

test.each([
  ['HTTP', overHttp],
  ['MCP', overMcp],
] as const)('over %s a public payment is no test of what it bought', async (_, send) => {
  const body = { ...bodyFor('topup', 'OK'), msisdn: '+12025550177' }
  const mine = await buy(store, buyer, 'topup', body)
  const { orderId, paymentId, transactionHash } = mine.answer.body
  const header = await copyFromChain(transactionHash, mine.accepts)
  const told = async (...asked: Parameters<Send>) => {
    const sent = await send(...asked)
    const names = [...sent.headers].filter(([name]) => !/^date|request-id|ratelimit/.test(name))
    return { status: sent.status, headers: names, body: sent.body }
  }
  const answers = [
    await told('topup', body, header),
    await told('topup', body, forged(header, {})),
    await told('topup', body, forged(header, { value: '1' }, { amount: '1' })),
    await told('topup', { ...body, msisdn: '+12025550178' }, header),
    await told('topup', { offerId: 'NONE', colour: 'red' }, forged(header, { value: '1' })),
    await told('esim', bodyFor('esim', 'OK'), forged(header, { validBefore: '1' })),
  ]
  const [first] = answers
  expect(JSON.stringify(first)).toContain('FULFILLED')
  for (const answer of answers) expect(answer).toEqual(first)
  for (const secret of [orderId, paymentId, 'topup', 'TEST-TOPUP-OK'])
    expect(JSON.stringify(first)).not.toContain(secret)
})

test.each([
  ['HTTP', overHttp, '10.79.0.1'],
  ['MCP', overMcp, '10.79.0.2'],
] as const)(
  'over %s a payment that shows nothing counts as a refused one',
  async (_, send, from) => {
    const { answer, accepts } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    const header = forged(await copyFromChain(answer.body.transactionHash, accepts), {})
    const address = { 'x-forwarded-for': from }
    const maxRefused = 20
    for (let sent = 0; sent < maxRefused; sent += 1) {
      await send('voucher', bodyFor('voucher', 'OK'), header, address)
    }
    const signIn = { ...address, 'sign-in-with-x': 'x' }
    const proving = await get(store.url, '/api/catalog/orders', signIn)
    expect(proving).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  },
)

test('the token of the first answer opens its order, and no other', async () => {
  const one = (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.body
  const two = (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.body
  const read = async (by: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await get(store.url, `/api/catalog/orders${by}`, headers)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    return answer.body.orders[0].result
  }
  expect(await read(`/${one.orderId}`, one.accessToken)).toEqual(one.orders[0].result)
  expect(await read(`?paymentId=${one.paymentId}`, one.accessToken)).toEqual(one.orders[0].result)
  for (const token of [two.accessToken, `${one.accessToken}x`, one.accessToken.toLowerCase()]) {
    expect(await read(`/${one.orderId}`, token)).toBeNull()
  }
})
