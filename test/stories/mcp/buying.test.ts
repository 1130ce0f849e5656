import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor, eventually, get, supplierSays } from '../requests.ts'
import { useStore } from '../store.ts'
import { type Arguments, buyWith, openClient, paymentFor, versions } from './client.ts'

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

const newKey = () => `mcp-${randomBytes(12).toString('hex')}`
const card = bodyFor('voucher', 'OK')

describe.each(versions)('with a client of %s', (version) => {
  test('asking the price is an error that holds the demand, twice', async () => {
    await using opened = await openClient(store, version)
    // From now on the client checks every answer against the schema of its tool.
    await opened.client.listTools()
    const asked = await opened.call('buy', card)
    expect(asked.isError).toBe(true)
    expect(asked.texts).toEqual([JSON.stringify(asked.data)])
    expect(asked.data).toMatchObject({
      x402Version: 2,
      error: 'Payment required',
      resource: { url: 'mcp://tool/buy', mimeType: 'application/json' },
      accepts: [{ scheme: 'exact', amount: '500000', payTo: store.payTo }],
      extensions: {
        'payment-identifier': { info: { required: false } },
        bazaar: { info: { input: { type: 'mcp', toolName: 'buy' } } },
      },
      charged: 'no',
      bodySchema: { required: expect.arrayContaining(['offerId', 'firstName']) },
      message: expect.stringContaining('_meta["x402/payment"]'),
    })
    expect(asked.meta).not.toHaveProperty('x402/payment-response')
  })

  test('what is paid for comes once, behind a link, or in the answer when that is asked for', async () => {
    await using opened = await openClient(store, version)
    await opened.client.listTools()
    const before = await buyer.balance()
    const args = { ...card, idempotency_key: newKey() }
    const { bought, send } = await buyWith(opened.call, buyer, args)
    expect(bought.isError).toBe(false)
    const order = { state: 'FULFILLED', result: null, result_hint: expect.any(String) }
    const url = expect.stringMatching(new RegExp(`^${store.url}/reveal#\\S+$`))
    expect(bought.data).toMatchObject({ orders: [order], reveal: { url } })
    expect(JSON.stringify(bought)).not.toMatch(/SBX-|kat_/)
    expect(bought.meta['x402/payment-response']).toMatchObject({
      success: true,
      transaction: bought.data.transactionHash,
      payer: buyer.address,
      amount: '500000',
    })
    const again = await send({ include_goods: true })
    expect(again.data.orderId).toBe(bought.data.orderId)
    expect(again.data.orders[0].result.code).toMatch(/^SBX-/)
    expect(await buyer.balance()).toBe(before - 500_000n)
  })
})

describe('with any client', () => {
  test('gives a link only to callers who prove that the goods are theirs', async () => {
    await using opened = await openClient(store, '2026-07-28')
    const { call } = opened
    const key = newKey()
    const { bought, payment } = await buyWith(call, buyer, { ...card, idempotency_key: key })
    const { orderId, paymentId, transactionHash } = bought.data
    for (const proof of [
      { orderId },
      { paymentId, include_goods: true },
      { orderId, access_token: 'kat_no', include_goods: true },
    ]) {
      const { data } = await call('order_status', proof)
      expect(data.orders[0]).toMatchObject({ state: 'FULFILLED', result: null })
      expect(data.orders[0].result_hint).toContain('idempotency_key')
      expect(data).not.toHaveProperty('reveal')
    }
    const stranger = { transactionHash, idempotency_key: newKey(), include_goods: true }
    const repeated = await call('buy', card, { 'x402/payment': payment })
    for (const { data: standing } of [repeated, await call('order_status', stranger)]) {
      expect(standing).toMatchObject({ transactionHash, state: 'FULFILLED', refund_state: null })
      expect(JSON.stringify(standing)).not.toContain(orderId)
    }
    const own = await call('order_status', { orderId, idempotency_key: key })
    expect(own.data).toHaveProperty('reveal.url')
  })

  test.each<[string, (payment: Arguments) => unknown, string]>([
    ['text', () => 'eyJ4', 'payment_invalid'],
    ['of version 1', (payment) => ({ ...payment, x402Version: 1 }), 'payment_invalid'],
    [
      'for another amount',
      (payment) => ({ ...payment, accepted: { ...(payment['accepted'] as object), amount: '1' } }),
      'payment_mismatch',
    ],
  ])('a payment that is %s is asked for again', async (_, change, code) => {
    await using opened = await openClient(store, '2025-11-25')
    const args = bodyFor('esim', 'OK')
    const payment = await paymentFor(buyer, (await opened.call('buy', args)).data.accepts[0])
    const answer = await opened.call('buy', args, { 'x402/payment': change(payment) })
    expect(answer.isError).toBe(true)
    expect(answer.data).toMatchObject({ code, x402Version: 2, charged: 'no' })
    expect(answer.texts).toEqual([JSON.stringify(answer.data)])
  })

  test('a price above max_usdc is refused, and one within it is bought', async () => {
    await using opened = await openClient(store, 'SDK 1.x')
    const args = { ...card, max_usdc: 0.49 }
    for (const tool of ['quote', 'buy']) {
      const { isError, data } = await opened.call(tool, args)
      expect([isError, data.code]).toEqual([true, 'price_above_maximum'])
    }
    const { bought } = await buyWith(opened.call, buyer, { ...args, max_usdc: '0.5' })
    expect(bought.data.orders[0].state).toBe('FULFILLED')
  })
})

describe('a link to the goods', () => {
  const show = async (token: string) => {
    const answer = await fetch(`${store.url}/reveal`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token }).toString(),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  test('waits for goods that are late, shows them once behind a button, and is never in the log', async () => {
    await using opened = await openClient(store, '2026-07-28')
    const keyed = { ...bodyFor('voucher', 'HANG'), idempotency_key: newKey() }
    const payment = await paymentFor(buyer, (await opened.call('buy', keyed)).data.accepts[0])
    const wait = { 'x402/payment': payment }
    const buying = opened.call('buy', keyed, wait)
    const [{ id: orderId }] = await eventually(
      () =>
        store.query(`select id from orders where payer = $1 and state = 'FULFILLING'`, [
          buyer.address.toLowerCase(),
        ]),
      (rows) => rows.length > 0,
    )
    const own = { orderId, idempotency_key: keyed.idempotency_key }
    const [, token = ''] = (await opened.call('order_status', own)).data.reveal.url.split('#')
    const early = await show(token)
    expect([early.status, early.text]).toEqual([409, expect.stringContaining('Not delivered yet')])
    await supplierSays(store, orderId, 'DONE')
    expect((await buying).data.orders).toMatchObject([{ state: 'FULFILLED' }])

    const { status, headers, body } = await get(store.url, '/reveal')
    expect([status, body]).toEqual([200, expect.stringContaining('action="/reveal"')])
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; .*form-action 'self'/,
    )
    const [body64 = '', mac] = token.split('.')
    const other = Buffer.from(body64, 'base64url').toString().replace('ord_', 'ord_0')
    for (const bad of ['', `${Buffer.from(other).toString('base64url')}.${mac}`]) {
      expect((await show(bad)).status).toBe(400)
    }
    const shown = await Promise.all(Array.from({ length: 8 }, () => show(token)))
    const [opening, ...more] = shown.filter((one) => one.status === 200)
    expect(opening?.text).toContain('SBX-')
    expect(opening?.headers.get('cache-control')).toBe('no-store')
    expect(more).toEqual([])
    const again = await show(token)
    expect([again.status, again.text]).toEqual([410, expect.not.stringContaining('SBX-')])
    expect(store.logLines.join()).not.toContain(mac)
  })
})
