import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { createSIWxPayload, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { limitedAddress, untilLimited } from './interferences.ts'
import { openClient } from './mcp/client.ts'
import {
  type Answer,
  bodyFor,
  buy,
  eventually,
  get,
  post,
  purchasePath,
  termsOf,
} from './requests.ts'
import { openSibling, useStore } from './store.ts'

// A payment that is sent again is answered with its order, whatever has come between; and who is
// refused before that order could be looked for never hears that nothing was charged.

type Bought = Awaited<ReturnType<typeof buy>>

const store = useStore({})
let buyer: Buyer
/** A node that started after an offer was delisted, and what had been bought of it before. */
let later: Awaited<ReturnType<typeof openSibling>>
let bought: Bought

const voucher = bodyFor('voucher', 'OK')
const delisted = bodyFor('topup', 'OK')

beforeAll(async () => {
  buyer = await newBuyer()
  bought = await buy(store, buyer, 'topup', delisted)
  await store.admin('/offers', { offerId: 'TEST-TOPUP-OK', enabled: false })
  later = await openSibling(store)
  await eventually(
    () => post(later.url, purchasePath('topup'), delisted),
    ({ status }) => status === 404 || status === 409,
  )
})
afterAll(async () => {
  await later.close()
})

const newKey = () => ({ 'idempotency-key': `key-${randomBytes(12).toString('hex')}` })
const decoded = (header: string) => JSON.parse(Buffer.from(header, 'base64').toString())
const anAddress = () => [10, ...randomBytes(3)].join('.')
const everythingOf = async ({ address }: Buyer) => ({
  balance: await buyer.balance(),
  orders: await store.query('select id from orders where payer = $1', [address.toLowerCase()]),
})

/** Uses up what this address may do in a minute: purchases, refused payments or reading. */
async function useUp(address: string, limit: 'purchase' | 'refused' | 'reading'): Promise<void> {
  const headers = { 'x-forwarded-for': address }
  const ask: Record<typeof limit, () => Promise<{ status: number }>> = {
    purchase: () => get(store.url, `${purchasePath('voucher')}?offerId=X`, headers),
    refused: () =>
      post(store.url, purchasePath('voucher'), voucher, { ...headers, 'payment-signature': 'x' }),
    reading: () => get(store.url, '/api/catalog/topups/regions', headers),
  }
  await untilLimited(ask[limit])
}

async function signInOf(wallet: Buyer): Promise<string> {
  const { body } = await get(store.url, '/api/catalog/orders')
  const { info, supportedChains } = body.extensions['sign-in-with-x']
  const full = { ...info, ...supportedChains[0] }
  return encodeSIWxHeader(await createSIWxPayload(full, wallet.account, info.uri))
}

/** A sign-in that was used. */
async function usedSignIn(): Promise<Record<string, string>> {
  const headers = { 'sign-in-with-x': await signInOf(buyer) }
  expect((await get(store.url, '/api/catalog/orders', headers)).status).toBe(200)
  return headers
}

/** The answer says that the payment has bought something, and where that stands. */
function expectStanding(again: Answer, first: Bought): void {
  const { transactionHash } = first.answer.body
  expect(again).toMatchObject({ status: 200, body: { transactionHash, state: 'FULFILLED' } })
  expect(again.body).not.toHaveProperty('orderId')
}

describe('a paid request that comes again is answered with its order', () => {
  test.each(['purchase', 'refused'] as const)('above the limit of %s', async (limit) => {
    const headers = newKey()
    const first = await buy(store, buyer, 'voucher', voucher, { headers })
    const before = await everythingOf(buyer)
    const address = anAddress()
    await useUp(address, limit)
    const again = await first.send({ 'x-forwarded-for': address })
    expect(again).toMatchObject({ status: 200, body: { orderId: first.answer.body.orderId } })
    expect(again.body.orders).toEqual(first.answer.body.orders)
    expect(await everythingOf(buyer)).toEqual(before)
  })

  test('with a sign-in that was used, which shows no more than the payment', async () => {
    const first = await buy(store, buyer, 'voucher', voucher)
    expectStanding(await first.send(await usedSignIn()), first)
  })

  test('with a sign-in that is fresh, which shows the goods', async () => {
    const first = await buy(store, buyer, 'voucher', voucher)
    const again = await first.send({ 'sign-in-with-x': await signInOf(buyer) })
    expect(again.body.orders).toEqual(first.answer.body.orders)
  })

  test('above a limit, where a sign-in is not checked and shows nothing', async () => {
    const first = await buy(store, buyer, 'voucher', voucher)
    const address = anAddress()
    await useUp(address, 'purchase')
    const signIn = { 'sign-in-with-x': await signInOf(buyer) }
    const again = await first.send({ ...signIn, 'x-forwarded-for': address })
    expectStanding(again, first)
    expect((await get(store.url, '/api/catalog/orders', signIn)).status).toBe(200)
  })

  test('with a key of no form, which shows no more than the payment', async () => {
    const first = await buy(store, buyer, 'voucher', voucher)
    expectStanding(await first.send({ 'idempotency-key': 'short' }), first)
  })

  test('over HTTP, although the offer was delisted since', async () => {
    const again = await post(later.url, purchasePath('topup'), delisted, {
      'payment-signature': bought.payment.header,
    })
    expectStanding(again, bought)
  })

  test('over MCP, although the offer was delisted since', async () => {
    const { transactionHash } = bought.answer.body
    const { call, close } = await openClient(later, '2026-07-28')
    const meta = { 'x402/payment': decoded(bought.payment.header) }
    const again = await call('buy', delisted, meta)
    expect(again).toMatchObject({ isError: false, data: { transactionHash, state: 'FULFILLED' } })
    expect(again.data).not.toHaveProperty('orderId')
    const other = { ...delisted, msisdn: '+12025550124' }
    expect(await call('buy', other, meta)).toEqual(again)
    await close()
  })

  test('over MCP, above the limit of purchases', async () => {
    const first = await buy(store, buyer, 'voucher', voucher)
    const address = anAddress()
    await useUp(address, 'purchase')
    const again = await toolCall(address, { 'x402/payment': decoded(first.payment.header) })
    expect(again.body).toContain(first.answer.body.transactionHash)
    expect(await toolCall(address, {})).toMatchObject({
      body: expect.stringContaining('"charged":"no"'),
    })
  })

  test.each(['HTTP', 'MCP'])(
    'over %s, above what an address may have under way',
    async (transport) => {
      const first = await buy(store, buyer, 'voucher', voucher)
      const { address, letGo } = await limitedAddress(store.url, 'at once')
      const send = (isPaid: boolean) => {
        const { header } = first.payment
        if (transport === 'MCP')
          return toolCall(address, isPaid ? { 'x402/payment': decoded(header) } : {})
        const headers = { 'x-forwarded-for': address }
        const paid = isPaid ? { 'payment-signature': header } : {}
        return post(store.url, purchasePath('voucher'), voucher, { ...headers, ...paid })
      }
      const again = await send(true)
      expect(JSON.stringify(again.body)).toContain(first.answer.body.transactionHash)
      expect(await send(false)).toMatchObject({ status: 429, body: { charged: 'no' } })
      letGo()
    },
  )
})

/** Calls `buy` from an address, without a client that would look at the result. */
function toolCall(address: string, meta: object) {
  const params = { name: 'buy', arguments: voucher, _meta: meta }
  return post(
    store.url,
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    {
      'x-forwarded-for': address,
      accept: 'application/json, text/event-stream',
    },
  )
}

describe('whoever pays and is refused before the order was looked for hears that nothing is known', () => {
  const path = purchasePath('voucher')
  const newPayment = async () => {
    const { header } = await buyer.sign(await termsOf(store.url, 'voucher', voucher))
    return { 'payment-signature': header }
  }

  test('above the limits of buying and of reading together', async () => {
    const address = anAddress()
    await useUp(address, 'purchase')
    await useUp(address, 'reading')
    const headers = { 'x-forwarded-for': address }
    const paid = await post(store.url, path, voucher, { ...headers, ...(await newPayment()) })
    expect(paid).toMatchObject({ status: 429, body: { charged: 'unknown' } })
    expect(await post(store.url, path, voucher, headers)).toMatchObject({
      status: 429,
      body: { charged: 'no' },
    })
    const over = await toolCall(address, {})
    expect(over).toMatchObject({ status: 429, body: { charged: 'unknown' } })
  })

  test.each<[string, number, string, Record<string, string>]>([
    ['a body that is no JSON', 400, '{"offerId":', {}],
    ['a body that is a list', 400, '[]', {}],
    ['a body that is too large', 413, `{"offerId":"${'x'.repeat(17_000)}"}`, {}],
    ['a body of another type', 415, 'a=1', { 'content-type': 'text/plain' }],
  ])('with %s', async (_, status, body, headers) => {
    const paid = await post(store.url, path, body, { ...headers, ...(await newPayment()) })
    expect(paid).toMatchObject({ status, body: { charged: 'unknown' } })
    expect(await post(store.url, path, body, headers)).toMatchObject({
      status,
      body: { charged: 'no' },
    })
  })

  test('with a method that is not allowed', async () => {
    const answer = await fetch(`${store.url}${path}`, {
      method: 'PUT',
      headers: { 'x-forwarded-for': anAddress(), ...(await newPayment()) },
    })
    expect([answer.status, await answer.json()]).toEqual([
      405,
      expect.objectContaining({ charged: 'unknown' }),
    ])
  })

  test('with headers that are too large to be read', async () => {
    const text = await raw(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-big: ${'x'.repeat(17_000)}\r\n\r\n`,
    )
    expect(text).toMatch(/^HTTP\/1.1 431 .*"charged":"unknown"/s)
  })

  test('while once it was looked for, what is wrong with a request charged nothing', async () => {
    const paid = await newPayment()
    const cases: readonly [object, Record<string, string>, number][] = [
      [{ ...voucher, offerId: 'NONE' }, {}, 404],
      [{ ...voucher, colour: 'red' }, {}, 422],
      [voucher, { 'idempotency-key': 'short' }, 400],
    ]
    for (const [body, headers, status] of cases) {
      expect(await post(store.url, path, body, { ...paid, ...headers })).toMatchObject({
        status,
        body: { charged: 'no' },
      })
    }
  })
})

function raw(request: string): Promise<string> {
  const { port } = new URL(store.url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), '127.0.0.1', () => socket.end(request))
    socket.on('data', (data) => {
      text += data.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}
