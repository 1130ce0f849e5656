import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Accepts } from '../harness/payer.ts'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf, transactionsOf } from './chain.ts'
import { ledgerOf, rowsKept } from './facts.ts'
import { bodyFor, buy, get, type Kind, post, purchasePath, termsOf } from './requests.ts'
import { openStore, type Store } from './store.ts'

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
const nothing = { orders: 0, payments: 0, keys: 0, claims: 0, nonces: 0 }

let store: Store
let buyer: Buyer
let rpc: StoryProxy
let supplier: StoryProxy

beforeAll(async () => {
  buyer = await newBuyer()
  rpc = await startProxy(buyer.reader.transport.url as string)
  store = await openStore({
    rpcUrl: rpc.url,
    supplierVia: async (url) => {
      supplier = await startProxy(url)
      return supplier.url
    },
  })
})
afterAll(async () => {
  await store.close()
  await rpc.close()
  await supplier.close()
})

/** Forgets the calls that went outside so far. */
function forgetCalls(): void {
  rpc.calls.length = 0
  supplier.calls.length = 0
}

/**
 * Calls to the outside, but for the health probes, the looks at the wallets (`balanceOf` and what gas
 * costs) and the catalog, which come by the clock.
 */
function outsideCalls(): string[] {
  const atChain =
    /^eth_(get(BlockByNumber|Balance|Logs)|estimateGas|gasPrice|maxPriorityFeePerGas)$/
  const elsewhere = /^eth_call 0x70a08231$|\/balance$|\/kiosk402probe$|\/offers\?|\/rates\//
  const byTheClock = new RegExp(`${atChain.source}|${elsewhere.source}`)
  return [...rpc.calls, ...supplier.calls].filter((call) => !byTheClock.test(call))
}

/** The query that asks for the same thing as this body. */
function queryOf(body: Record<string, unknown>): string {
  const fields = Object.entries(body).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  return new URLSearchParams(fields).toString()
}

/** What a demand says, without what is signed or dated anew each time. */
function timeless({ extensions, accepts, ...body }: Demand) {
  const { 'offer-receipt': _, ...lasting } = extensions
  return {
    ...body,
    extensions: lasting,
    accepts: accepts.map(({ extensions: _dated, ...terms }) => terms),
  }
}

interface Demand {
  readonly extensions: Record<string, unknown>
  readonly accepts: readonly Record<string, unknown>[]
}

async function expectNothingHappened(): Promise<void> {
  expect(await rowsKept(store)).toEqual(nothing)
  expect(outsideCalls()).toEqual([])
  expect(await ledgerOf(store)).toEqual([])
  expect(await transactionsOf(store.parts, store.gasWallet)).toBe(0)
  expect(await balanceOf(store.parts, store.payTo)).toBe(0n)
}

describe.each(kinds)('asking what a %s costs', (kind) => {
  test('a body without a payment is answered with the exact terms, in header and body', async () => {
    forgetCalls()
    const answer = await post(store.url, purchasePath(kind), bodyFor(kind, 'OK'))
    expect(answer.status).toBe(402)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const header = answer.headers.get('payment-required') ?? ''
    expect(header.length).toBeGreaterThan(0)
    expect(header.length).toBeLessThan(4_608)
    const required = JSON.parse(Buffer.from(header, 'base64').toString())
    const { message, charged, bodySchema, ...body } = answer.body
    expect(body).toEqual(required)
    expect(charged).toBe('no')
    expect(bodySchema).toMatchObject({
      properties: { offerId: { const: `TEST-${kind.toUpperCase()}-OK` } },
    })
    expect(required).toMatchObject({
      x402Version: 2,
      error: expect.any(String),
      resource: {
        url: `${store.url}${purchasePath(kind)}`,
        description: expect.stringContaining('Sandbox Test'),
        mimeType: 'application/json',
      },
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:84532',
          amount: '500000',
          asset: store.parts.usdc,
          payTo: store.payTo,
          maxTimeoutSeconds: 300,
          extra: { name: 'USDC', version: '2', quote: expect.any(String) },
        },
      ],
      extensions: { 'payment-identifier': { info: { required: false } } },
    })
    expect(message).toContain('PAYMENT-SIGNATURE')
    expect(message).not.toMatch(/spend limit/)
    await expectNothingHappened()
  })

  test('an empty body is answered with the lowest price and how the route is used', async () => {
    forgetCalls()
    const { body: offers } = await get(store.url, `/api/catalog/${kind}s/offers?limit=100`)
    const empty = await post(store.url, purchasePath(kind), undefined)
    expect(empty.status).toBe(402)
    for (const body of [{}, null, '']) {
      const again = await post(store.url, purchasePath(kind), body)
      expect(timeless(again.body)).toEqual(timeless(empty.body))
    }
    const [{ amount }] = empty.body.accepts
    for (const { usdc, available } of offers.items) {
      if (available) expect(BigInt(usdc.amount ?? usdc.min)).toBeGreaterThanOrEqual(BigInt(amount))
    }
    const { info, schema } = empty.body.extensions.bazaar
    expect(info.input).toMatchObject({ type: 'http', method: 'POST', bodyType: 'json' })
    expect(info.input.body).toHaveProperty('offerId')
    expect(schema).toBeTypeOf('object')
    const header = empty.headers.get('payment-required') ?? ''
    expect(header.length).toBeLessThan(4_608)
    expect(JSON.parse(Buffer.from(header, 'base64').toString()).extensions).toEqual(
      empty.body.extensions,
    )
    await expectNothingHappened()
  })

  test('a body that names something wrong is told so, and is never asked to pay', async () => {
    forgetCalls()
    const good = bodyFor(kind, 'OK')
    const other = kind === 'esim' ? 'TEST-VOUCHER-OK' : 'TEST-ESIM-OK'
    const wrong = [
      { body: { ...good, offerId: 'NO-SUCH-OFFER' }, status: 404, code: 'offer_not_found' },
      { body: { ...good, offerId: other }, status: 404, code: 'offer_not_found' },
      { body: { ...good, value: 5 }, status: 422, code: 'invalid_body' },
      { body: { ...good, colour: 'red' }, status: 422, code: 'invalid_body' },
      { body: { ...good, offerId: undefined, colour: 'red' }, status: 422, code: 'invalid_body' },
    ]
    for (const { body, status, code } of wrong) {
      const posted = await post(store.url, purchasePath(kind), body)
      expect(posted).toMatchObject({ status, body: { code, charged: 'no', retryable: false } })
      expect(posted.headers.get('payment-required')).toBeNull()
      const quoted = await get(
        store.url,
        `${purchasePath(kind)}?${queryOf(JSON.parse(JSON.stringify(body)))}`,
      )
      expect(quoted).toMatchObject({ status, body: { code } })
    }
    await expectNothingHappened()
  })

  test('GET quotes the same amount, and HEAD is no way in', async () => {
    forgetCalls()
    const body = bodyFor(kind, 'OK')
    const path = `${purchasePath(kind)}?${queryOf(body)}`
    const terms = await termsOf(store.url, kind, body)
    const quote = await get(store.url, path)
    expect(quote).toMatchObject({
      status: 200,
      body: {
        offerId: body['offerId'],
        kind,
        usdc: { amount: terms.amount, decimals: 6 },
        accepts: [{ ...terms, extra: expect.any(Object), extensions: expect.any(Object) }],
      },
    })
    expect(Date.parse(quote.body.validUntil)).toBeGreaterThan(Date.now())

    const { header } = await buyer.sign(terms)
    const headers = { 'payment-signature': header, 'idempotency-key': 'a-key-of-a-get-request' }
    expect((await get(store.url, path, headers)).status).toBe(200)
    const head = await fetch(`${store.url}${path}`, { method: 'HEAD', headers })
    expect(head.status).toBe(405)
    expect(head.headers.get('allow')).toContain('POST')
    await expectNothingHappened()
  })
})

test('above 1 USD the answer says that stock clients need a higher limit', async () => {
  const { body } = await get(store.url, '/api/catalog/esims/offers?limit=100')
  const dear = body.items.find(
    ({ usdc }: { usdc: { amount?: string } }) => Number(usdc.amount) > 1_000_000,
  )
  const answer = await post(store.url, purchasePath('esim'), { offerId: dear.offerId })
  expect(answer.status).toBe(402)
  expect(answer.body.message).toMatch(/over 1 USD until their own spend limit is raised/)
})

test('what a quote names can be paid', async () => {
  const body = bodyFor('topup', 'OK')
  const { body: quote } = await get(store.url, `${purchasePath('topup')}?${queryOf(body)}`)
  const accepts = quote.accepts[0] as Accepts
  const before = await buyer.balance()
  const { header } = await buyer.sign(accepts)
  const paid = await post(store.url, purchasePath('topup'), body, { 'payment-signature': header })
  expect(paid).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
  expect(await buyer.balance()).toBe(before - BigInt(quote.usdc.amount))
  expect(await balanceOf(store.parts, store.payTo)).toBe(BigInt(quote.usdc.amount))
})

test('the stories above would have seen a purchase', async () => {
  forgetCalls()
  await buy(store, buyer, 'esim', bodyFor('esim', 'OK'))
  expect(outsideCalls()).toEqual(
    expect.arrayContaining(['eth_sendRawTransaction', 'POST /v1/esim/purchases']),
  )
  expect(await transactionsOf(store.parts, store.gasWallet)).toBeGreaterThan(0)
  expect(await rowsKept(store)).not.toEqual(nothing)
})
