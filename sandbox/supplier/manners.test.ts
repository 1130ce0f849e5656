import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { ask, finalOf, person, startTestSupplier } from './client.fixture.ts'
import type { Supplier } from './server.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startTestSupplier()
})
afterAll(() => supplier.stop())

const never = 86_400_000
const url = (path: string) => `${supplier.url}/v1/${path}`
const treat = (offerId: string, manner: object) =>
  ask(`${supplier.url}/_admin/manners`, { offerId, ...manner })
const voucher = (transactionId: string, offerId: string) =>
  ask(url('vouchers/purchases'), { offerId, transactionId, fields: person })

test('a purchase is accepted and not shown for a while, and its repeat is refused', async () => {
  await treat('TEST-VOUCHER-OK', { hiddenMs: never, duplicates: 'bare' })
  expect((await voucher('M1', 'TEST-VOUCHER-OK')).status).toBe(200)
  expect((await ask(url('vouchers/purchases/M1'))).status).toBe(404)
  expect(await voucher('M1', 'TEST-VOUCHER-OK')).toMatchObject({
    status: 400,
    body: { fields: {} },
  })
  await treat('TEST-VOUCHER-OK', { hiddenMs: 1 })
  expect(await finalOf(url('vouchers/purchases/M1'))).toMatchObject({ status: 'DONE' })
})

test('a purchase is made whose answer is lost, and ends when it is told to', async () => {
  await treat('TEST-VOUCHER-SLOW', { lostAnswer: true, endsAfterMs: 60 })
  expect((await voucher('M2', 'TEST-VOUCHER-SLOW')).status).toBe(503)
  expect(await finalOf(url('vouchers/purchases/M2'))).toMatchObject({ status: 'DONE' })
})

test('a record is done before it has its goods', async () => {
  await treat('TEST-VOUCHER-LATE', { endsAfterMs: 20, goodsAfterMs: never })
  await voucher('M3', 'TEST-VOUCHER-LATE')
  expect(await finalOf(url('vouchers/purchases/M3'))).not.toHaveProperty('receipt')
  await treat('TEST-VOUCHER-LATE', { goodsAfterMs: 1 })
  await until(async () => (await ask(url('vouchers/purchases/M3'))).body.receipt)
})

test.each([
  ['link', { epin: '', voucherId: '', redemptionUrl: expect.stringMatching(/^https:/) }],
  ['email', { epin: '', voucherId: '', redemptionUrl: '', deliveryType: 'EMAIL' }],
])('a voucher comes with no more than its %s', async (receipt, shown) => {
  await treat('TEST-VOUCHER-LOST', { receipt })
  await voucher(`M4${receipt}`, 'TEST-VOUCHER-LOST')
  const done = await finalOf(url(`vouchers/purchases/M4${receipt}`))
  expect(done.receipt).toMatchObject(shown)
  expect(done.receipt.confirmationNumber).toMatch(/^\d+$/)
})

test('a purchase costs more than its list says', async () => {
  await treat('TEST-VOUCHER-OPEN', { dearer: 7 })
  const value = { type: 'PRICE', value: 25 }
  const body = { offerId: 'TEST-VOUCHER-OPEN', transactionId: 'M5', fields: person, value }
  await ask(url('vouchers/purchases'), body)
  expect(await finalOf(url('vouchers/purchases/M5'))).toMatchObject({ price: 32 })
})

test.each([
  ['fails', 'FAILED'],
  ['stays', 'ACCEPTED'],
])('a refund of an eSIM that is accepted %s', async (refund, status) => {
  await treat('TEST-ESIM-OK', { refund })
  const id = `M6${refund}`
  await ask(url('esim/purchases'), { offerId: 'TEST-ESIM-OK', transactionId: id })
  await finalOf(url(`esim/purchases/${id}`))
  const path = url(`esim/purchases/${id}/refund`)
  expect((await ask(path, {})).body).toEqual({ status: 'ACCEPTED' })
  await until(async () => ((await ask(path)).body.status === status ? true : undefined))
})
