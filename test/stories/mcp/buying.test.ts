import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor } from '../requests.ts'
import { useStore } from '../store.ts'
import { buyWith, openClient, versions } from './client.ts'

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
})
