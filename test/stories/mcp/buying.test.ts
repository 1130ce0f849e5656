import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor } from '../requests.ts'
import { useStore } from '../store.ts'
import { buyWith, newKey, openClient, paymentFor, versions } from './client.ts'

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

const card = bodyFor('voucher', 'OK')

describe.each(versions)('with a client of %s', (version) => {
  test('asking the price is an error that holds the demand, twice', async () => {
    await using opened = await openClient(store, version)
    // From now on the client checks every answer against the schema of its tool.
    await opened.client.listTools()
    const asked = await opened.call('buy', { ...card, idempotency_key: newKey() })
    expect(asked.isError).toBe(true)
    expect(asked.texts).toEqual([JSON.stringify(asked.data)])
    expect(asked.data).toMatchObject({
      x402Version: 2,
      error: 'Payment required',
      resource: { url: `${store.url}/mcp`, mimeType: 'application/json' },
      accepts: [{ scheme: 'exact', amount: '500000', payTo: store.payTo }],
      extensions: {
        'payment-identifier': { info: { required: false } },
        bazaar: { info: { input: { type: 'mcp', toolName: 'buy' } } },
      },
      charged: 'no',
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

  test('needs a key, which alone finds the order of an answer that was lost', async () => {
    await using opened = await openClient(store, '2025-11-25')
    const { call } = opened
    const missing = { code: 'idempotency_key_missing', parameter: 'idempotency_key', charged: 'no' }
    expect((await call('buy', card)).data).toMatchObject(missing)
    for (const idempotency_key of ['x', 'x'.repeat(10_000)]) {
      const refused = await call('order_status', { idempotency_key })
      const unsold = await call('buy', { ...card, idempotency_key })
      for (const { texts } of [refused, unsold]) {
        expect(texts[0]).toMatch(/^idempotency_key must be 16 to 128 characters/)
      }
    }
    const lost = { ...card, idempotency_key: newKey(), include_goods: true }
    const { orderId, orders } = (await buyWith(call, buyer, lost)).bought.data
    const { idempotency_key, include_goods } = lost
    const found = await call('order_status', { idempotency_key, include_goods })
    // Whoever begins again with the price is not asked to pay.
    for (const { data } of [found, await call('buy', lost)]) {
      expect(data).toMatchObject({ orderId, orders: [{ result: orders[0].result }] })
    }
    const stranger = await call('order_status', { idempotency_key: newKey() })
    expect(stranger.data).toMatchObject({ code: 'order_not_found' })
  })

  test('asks about a phone that another wallet has just topped up, and goes on when told so', async () => {
    await using opened = await openClient(store, '2026-07-28')
    const { call } = opened
    const line = bodyFor('topup', 'OK')
    await buyWith(call, buyer, line)
    const payer = await newBuyer()
    const again = { ...line, idempotency_key: newKey() }
    const [accepts] = (await call('buy', again)).data.accepts
    const meta = { 'x402/payment': await paymentFor(payer, accepts) }
    const refused = await call('buy', again, meta)
    expect(refused.data).toMatchObject({ code: 'possible_duplicate', charged: 'no' })
    expect(refused.texts[0]).toContain('confirmAnother')
    expect(refused.texts[0]).not.toContain('ord_')
    const second = await call('buy', { ...again, confirmAnother: true }, meta)
    expect(second.data.orderId).toMatch(/^ord_/)
  })

  test('buys the same again for the same recipient only when told so, under whatever key', async () => {
    await using opened = await openClient(store, '2026-07-28')
    const { call } = opened
    const payer = await newBuyer()
    const { orderId } = (await buyWith(call, payer, card)).bought.data
    const before = await payer.balance()
    const again = { ...card, idempotency_key: newKey() }
    const [accepts] = (await call('buy', again)).data.accepts
    const meta = { 'x402/payment': await paymentFor(payer, accepts) }
    const refused = await call('buy', again, meta)
    expect(refused.data).toMatchObject({ code: 'possible_duplicate', charged: 'no', orderId })
    expect(refused.texts[0]).toContain(orderId)
    expect(await payer.balance()).toBe(before)
    const second = await call('buy', { ...again, confirmAnother: true }, meta)
    expect(second.data.orders).toMatchObject([{ state: 'FULFILLED' }])
    expect(second.data.orderId).not.toBe(orderId)
  })
})
