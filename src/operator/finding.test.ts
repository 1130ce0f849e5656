import { describe, expect, test } from 'vitest'
import { newCheckoutId } from '../../test/doubles/ids.ts'
import { opened, opening, payment } from '../../test/fixtures/sample-checkouts.ts'
import { asked, fulfilled, newHash, payer, take, wayTo } from '../../test/fixtures/sample-orders.ts'
import { createMailBook } from '../adapters/storage/webhooks.ts'
import { foundBy, recoveryCodeOf } from '../orders/finding.ts'
import { supplierReferenceOf } from '../orders/order.ts'
import { createDigest } from '../secrets/secrets.ts'
import { findOrders } from './finding.ts'
import { key, operatorOnDatabase, requestId, storeDigests, topup } from './operator.fixture.ts'

const store = operatorOnDatabase()
const refundTo = 'bc1qRefundToOfAdaLovelace7zq7zq7zq7zq7zq'

const ids = async (text: string, anna = store.anna()) =>
  (await findOrders(anna, text)).found.map(({ order }) => order)

describe('an order is found', () => {
  test('by each of its names, however it is written', async () => {
    const order = fulfilled(asked())
    const { id, paymentId, receipt } = order
    await store.place(order)
    await createMailBook(store.database()).remember(
      id,
      createDigest([key], 'order-mail').of('ada.l@example.org'),
    )
    const code = recoveryCodeOf(storeDigests, id)
    for (const text of [
      ...[id, `https://kiosk.example/orders/${id}#kat_x`, paymentId, supplierReferenceOf(id)],
      ...[receipt.transaction, receipt.transaction.toUpperCase().replace('0X', '0x'), payer],
      ...['+49 (1512) 345-6789', '004915123456789', '01512 3456789', requestId.toUpperCase()],
      ...[' Ada.L@Example.org', code, code.toLowerCase().replaceAll('-', ' ')],
    ]) {
      expect([text, await ids(text)]).toEqual([text, [id]])
    }
    expect((await findOrders(store.anna(), id)).found).toMatchObject([
      {
        foundBy: 'order',
        state: 'FULFILLED',
        kind: 'voucher',
        amountUsdc: '12.50',
        checkout: null,
      },
    ])
  })

  test('under an older key of the store, and not under another one', async () => {
    const { id } = await store.place(fulfilled(asked()))
    const newer = Buffer.alloc(32, 9)
    expect(await ids('+4915123456789', store.anna([newer, key]))).toEqual([id])
    expect(await ids('+4915123456789', store.anna([newer]))).toEqual([])
  })

  test('among those of its wallet, the newest first, fifty at most', async () => {
    for (let at = 0; at < 52; at += 1) {
      await take(store.orders(), [
        ...wayTo(asked({ placedAt: new Date(Date.UTC(2026, 0, 1, 0, at)) })).slice(0, 1),
      ])
    }
    const { found: listed, isMore } = await findOrders(store.anna(), payer)
    expect([listed.length, isMore]).toEqual([50, true])
    expect(listed[0]?.placedAt).toEqual(new Date(Date.UTC(2026, 0, 1, 0, 51)))
  })
})

test('a checkout without an order is found by its addresses, payment, return and receiver', async () => {
  const first = opening({ id: newCheckoutId(), refundTo })
  const came = payment(500n)
  const open = opened(first, { payments: [came] })
  const by = foundBy(storeDigests, first.orderId, topup)
  const { checkout } = await store.checkouts().open(first, undefined, by)
  await store.checkouts().move(checkout, open)
  for (const text of [
    ...[first.id, first.orderId, open.invoice.address, open.invoice.paymentLink],
    ...[refundTo, came.transaction, '+4915123456789', requestId],
  ]) {
    expect([text, await ids(text)]).toEqual([text, [first.orderId]])
  }
})

test('what names nothing is told from what is not found', async () => {
  await expect(findOrders(store.anna(), 'my order')).rejects.toThrow('nothing by which')
  expect(await findOrders(store.anna(), newHash())).toMatchObject({ found: [] })
})
