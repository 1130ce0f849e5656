import { randomBytes } from 'node:crypto'
import { createSIWxPayload, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x'
import { decodeFunctionData, type Hex, serializeSignature } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf, usdcAbi } from './chain.ts'
import { type Answer, bodyFor, buy, get, type Kind, post, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

const newKey = () => `key-${randomBytes(12).toString('hex')}`

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
    from,
    to,
    value: value.toString(),
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    nonce,
  }
  const payload = { x402Version: 2, accepted: accepts, payload: { signature, authorization } }
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

/** A sign-in by this wallet, for one request. */
async function signIn(wallet: Buyer): Promise<Record<string, string>> {
  const path = '/api/catalog/orders'
  const { body } = await get(store.url, path)
  const { info, supportedChains } = body.extensions['sign-in-with-x']
  const signer = {
    address: wallet.address,
    account: wallet.account,
    signMessage: ({ message }: { message: string }) => wallet.account.signMessage({ message }),
  }
  const payload = await createSIWxPayload(
    { ...info, ...supportedChains[0] },
    signer as never,
    `${store.url}${path}`,
  )
  return { 'sign-in-with-x': encodeSIWxHeader(payload) }
}

test.each(kinds)('a copied payment of a %s shows no more than its hash', async (kind) => {
  const body = bodyFor(kind, 'OK')
  const headers = { 'idempotency-key': `known-to-the-buyer-only-${kind}` }
  const identifier = `own-identifier-${kind}`
  const mine = await buy(store, buyer, kind, body, { headers, identifier })
  const { orderId, paymentId, transactionHash, orders } = mine.answer.body
  const before = await balances()
  const header = await copyFromChain(transactionHash, mine.accepts)
  const guesses: Record<string, string>[] = [
    {},
    { 'idempotency-key': 'a-key-that-was-guessed-1' },
    { authorization: 'Bearer kat_guessed' },
    { authorization: `Bearer ${orderId}` },
    { authorization: `Bearer ${paymentId}` },
    await signIn(await newBuyer(0n)),
  ]
  for (const guess of guesses) await expectStanding(await repeated(kind, body, header, guess))
  const reads = [`/${orderId}`, `?paymentId=${paymentId}`]
  for (const guess of guesses.slice(0, -1)) {
    for (const by of reads) {
      const read = await get(store.url, `/api/catalog/orders${by}`, guess)
      expect(read).toMatchObject({ status: 200, body: { orderId, orders: [{ result: null }] } })
      expectNothingOf(orders[0].result, read.body)
    }
    const byHash = `/api/catalog/orders?transactionHash=${transactionHash}`
    await expectStanding(await get(store.url, byHash, guess))
  }
  expect(await balances()).toEqual(before)

  async function expectStanding({ status, headers: told, body: shown }: Answer) {
    expect([status, Object.keys(shown).sort()]).toEqual([200, standing])
    expect(shown).toMatchObject({ transactionHash, state: 'FULFILLED' })
    const everything = JSON.stringify([shown, ...told])
    for (const secret of [orderId, paymentId, kind, String(body['offerId'])])
      expect(everything).not.toContain(secret)
  }
})

function repeated(kind: Kind, body: unknown, header: string, more: Record<string, string> = {}) {
  return post(store.url, purchasePath(kind), body, { 'payment-signature': header, ...more })
}

/** All that a public hash shows of an order. */
const standing = [
  'message',
  'refund_state',
  'refund_state_updated_at',
  'state',
  'state_updated_at',
  'transactionHash',
]

async function balances() {
  return { buyer: await buyer.balance(), store: await balanceOf(store.parts, store.payTo) }
}

/** No text of the goods is anywhere in an answer. */
function expectNothingOf(result: Record<string, unknown>, body: unknown): void {
  const texts = Object.values(result).filter((value) => typeof value === 'string')
  expect(texts.length).toBeGreaterThan(1)
  for (const text of texts) expect(JSON.stringify(body)).not.toContain(text)
}

test('what the stranger rebuilt is the payment itself: its buyer gets the goods with it', async () => {
  const body = bodyFor('voucher', 'OK')
  const headers = { 'idempotency-key': 'known-to-the-buyer-only-2' }
  const mine = await buy(store, buyer, 'voucher', body, { headers })
  const header = await copyFromChain(mine.answer.body.transactionHash, mine.accepts)
  const again = await post(store.url, purchasePath('voucher'), body, {
    'payment-signature': header,
    ...headers,
  })
  expect(again.body.orders).toEqual(mine.answer.body.orders)
})

/** What anybody can make of the public nonce of a payment, who has no signature of its payer. */
function forged(header: string, changes: object, accepted: object = {}): string {
  const payload = JSON.parse(Buffer.from(header, 'base64').toString())
  Object.assign(payload.payload, { signature: `0x${'5a'.repeat(65)}` })
  Object.assign(payload.payload.authorization, changes)
  Object.assign(payload.accepted, accepted)
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

test.each(['HTTP', 'MCP'])(
  'over %s a public payment is no test of what it bought',
  async (transport) => {
    const body = { ...bodyFor('topup', 'OK'), msisdn: '+12025550177' }
    const mine = await buy(store, buyer, 'topup', body, {
      headers: { 'idempotency-key': newKey() },
    })
    const { orderId, paymentId, transactionHash } = mine.answer.body
    const header = await copyFromChain(transactionHash, mine.accepts)
    const before = await balances()
    const send = async (kind: Kind, asked: unknown, payment: string) => {
      const sent =
        transport === 'HTTP'
          ? await repeated(kind, asked, payment)
          : await boughtOverMcp(asked, payment)
      const { date: _, ...headers } = Object.fromEntries(sent.headers)
      for (const name of Object.keys(headers).filter((name) => /request-id|ratelimit/.test(name)))
        delete headers[name]
      return { status: sent.status, headers, body: sent.body }
    }
    const answers = [
      await send('topup', body, header),
      await send('topup', body, forged(header, {})),
      await send('topup', body, forged(header, { value: '1' }, { amount: '1' })),
      await send('topup', { ...body, msisdn: '+12025550178' }, header),
      await send('topup', { offerId: 'NONE', colour: 'red' }, forged(header, { value: '1' })),
      await send('voucher', bodyFor('voucher', 'OK'), header),
      await send('esim', bodyFor('esim', 'OK'), forged(header, { validBefore: '1' })),
    ]
    const [first] = answers
    expect(JSON.stringify(first)).toContain('FULFILLED')
    for (const answer of answers) expect(answer).toEqual(first)
    for (const secret of [orderId, paymentId, 'topup', 'TEST-TOPUP-OK'])
      expect(JSON.stringify(first)).not.toContain(secret)
    expect(await balances()).toEqual(before)
  },
)

function boughtOverMcp(
  asked: unknown,
  payment: string,
  from: Record<string, string> = {},
): Promise<Answer> {
  const meta = { 'x402/payment': JSON.parse(Buffer.from(payment, 'base64').toString()) }
  const params = { name: 'buy', arguments: asked, _meta: meta }
  const headers = { accept: 'application/json, text/event-stream', ...from }
  return post(store.url, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
}

test('who shows the key of the order hears that its payment buys nothing else', async () => {
  const headers = { 'idempotency-key': newKey() }
  const mine = await buy(store, buyer, 'topup', bodyFor('topup', 'OK'), { headers })
  const { orderId } = mine.answer.body
  expect(await mine.send({}, { ...bodyFor('topup', 'OK'), msisdn: '+12025550179' })).toMatchObject({
    status: 409,
    body: { code: 'payment_reused', charged: 'yes', orderId },
  })
})

test.each(['HTTP', 'MCP'])(
  'over %s a payment that shows nothing counts as a refused one',
  async (transport) => {
    const { answer, accepts } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    const header = forged(await copyFromChain(answer.body.transactionHash, accepts), {})
    const address = { 'x-forwarded-for': transport === 'HTTP' ? '10.79.0.1' : '10.79.0.2' }
    const send = () =>
      transport === 'HTTP'
        ? repeated('voucher', bodyFor('voucher', 'OK'), header, address)
        : boughtOverMcp(bodyFor('voucher', 'OK'), header, address)
    const maxRefused = 20
    for (let sent = 0; sent < maxRefused; sent += 1) await send()
    const proving = await get(store.url, '/api/catalog/orders', {
      ...address,
      'sign-in-with-x': 'x',
    })
    expect(proving).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  },
)

test('the token of the first answer opens its order, and no other', async () => {
  const one = (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.body
  const two = (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.body
  const read = async (id: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await get(store.url, `/api/catalog/orders/${id}`, headers)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    return answer.body.orders[0].result
  }
  expect(await read(one.orderId, one.accessToken)).toEqual(one.orders[0].result)
  expect(await read(two.orderId, two.accessToken)).toEqual(two.orders[0].result)
  expect(await read(one.orderId, two.accessToken)).toBeNull()
  expect(await read(one.orderId, `${one.accessToken}x`)).toBeNull()
  expect(await read(one.orderId, one.accessToken.toLowerCase())).toBeNull()
  const byKey = await get(store.url, `/api/catalog/orders?paymentId=${one.paymentId}`, {
    authorization: `Bearer ${one.accessToken}`,
  })
  expect(byKey.body.orders[0].result).toEqual(one.orders[0].result)
})
