import { appendFileSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataFileOfTest } from '../data-file.fixture.ts'
import { ask, finalOf, person, startTestSupplier } from './client.fixture.ts'
import { luhnDigit } from './records.ts'
import type { Supplier } from './server.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startTestSupplier()
})
afterAll(() => supplier.stop())

const dataFile = dataFileOfTest()
const url = (path: string) => `${supplier.url}/v1/${path}`
const admin = (path: string, body?: object) => ask(`${supplier.url}/_admin/${path}`, body)
const buy = (family: string, body: object) => ask(url(`${family}/purchases`), body)
const voucher = (transactionId: string, offerId = 'TEST-VOUCHER-OK', more = {}) =>
  buy('vouchers', { offerId, transactionId, fields: person, ...more })
const audit = async (id: string) => {
  const { body } = await admin('ledger')
  return body.purchases.find((entry: { transactionId: string }) => entry.transactionId === id)
}

test('of a list of purchases, those before a time are shown, the newest first', async () => {
  for (const id of ['V1', 'V2']) await voucher(id)
  const list = (query: string) => ask(url(`vouchers/purchases?_limit=2&_offset=0${query}`))
  const ids = (await list('')).body.list.map((one: { transactionId: string }) => one.transactionId)
  expect(ids).toEqual(['V2', 'V1'])
  expect((await list('&createdAt=lt2020-01-01T00:00:00Z')).body.total).toBe(0)
  expect((await list('&createdAt=yesterday')).status).toBe(400)
})

test('a transactionId buys once, even when all ask at the same time', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => voucher('TWICE')))
  const refused = answers.filter(({ status }) => status === 400)
  expect(refused).toHaveLength(7)
  expect(refused[0]?.body.fields).toHaveProperty('transactionId')
  await finalOf(url('vouchers/purchases/TWICE'))
  expect((await buy('esim', { offerId: 'TEST-ESIM-OK', transactionId: 'TWICE' })).status).toBe(400)
  expect(await audit('TWICE')).toMatchObject({ charged: 45, deliveries: 1 })
})

const us = { offerId: 'TEST-TOPUP-OK' }
const price = (value: number) => ({ value: { type: 'PRICE', value } })
const cuba = { offerId: 'CUBACEL_CU_OPEN', ...price(1000) }
const kenya = { offerId: 'SAFARICOM_KE_OPEN', ...price(1000) }
const open = { offerId: 'TEST-VOUCHER-OPEN', fields: person }
const esim = { offerId: 'TEST-ESIM-OK' }
const nickname = { key: 'recipient.nickname', value: 'Ada' }

test.each<[field: string, family: string, body: object]>([
  ['value', 'vouchers', open],
  ...[26, 5, 100, 12.5].map((value): [string, string, object] => {
    return [value === 12.5 ? 'value.value' : 'value', 'vouchers', { ...open, ...price(value) }]
  }),
  ['value', 'vouchers', { offerId: 'TEST-VOUCHER-OK', fields: person, ...price(50) }],
  ['value', 'esim', { ...esim, ...price(100) }],
  ['iccid', 'esim', { ...esim, iccid: '8910390000000000000' }],
  ['transactionId', 'esim', { ...esim, transactionId: 'not-plain' }],
  ['recipient.nickname', 'vouchers', { ...open, ...price(25), fields: [...person, nickname] }],
  ['recipient.firstName', 'vouchers', { ...open, ...price(25), fields: person.slice(1) }],
  ...['+1', '+1 202 555 0123', '12025550123'].map((value): [string, string, object] => {
    const fields = [{ key: 'recipient.msisdn', value }]
    return ['recipient.msisdn', 'vouchers', { offerId: 'DIRTY-VOUCHERS-KEEP-PHONE', fields }]
  }),
  ...['+4915112345678', '12025550123', '+18095551234'].map((recipientPhoneNumber) => {
    return ['recipientPhoneNumber', 'topups', { ...us, recipientPhoneNumber }] as [
      string,
      string,
      object,
    ]
  }),
  ...['+12025550123', '+531', '+5372041234'].map((recipientPhoneNumber) => {
    return ['recipientPhoneNumber', 'topups', { ...cuba, recipientPhoneNumber }] as [
      string,
      string,
      object,
    ]
  }),
  ['recipientPhoneNumber', 'topups', { ...kenya, recipientPhoneNumber: '+2540712345678' }],
])('what the real supplier refuses is refused here: %s of %s %j', async (field, family, body) => {
  const refused = await buy(family, { transactionId: 'BAD', ...body })
  expect([refused.status, Object.keys(refused.body.fields)]).toEqual([400, [field]])
  expect((await ask(url(`${family}/purchases/BAD`))).status).toBe(404)
})

test.each(['NONE', 'DIRTY-VOUCHERS-DISABLED', 'DIRTY-VOUCHERS-NO-PRICE'])(
  'the offer %s cannot be bought',
  async (offerId) => expect((await voucher('N1', offerId)).status).toBe(404),
)

test('Zendit’s own test number is taken, and an eSIM has a true number', async () => {
  const topup = { ...cuba, transactionId: 'P2', recipientPhoneNumber: '+5355564362' }
  expect((await buy('topups', topup)).status).toBe(200)
  await buy('esim', { ...esim, transactionId: 'E1' })
  const { iccid } = (await finalOf(url('esim/purchases/E1'))).confirmation
  expect(iccid).toMatch(/^89\d{17}$/)
  expect(luhnDigit(iccid.slice(0, -1))).toBe(iccid.at(-1))
})

test('a delivered eSIM is refunded once', async () => {
  const refunded = (id: string) => ask(url(`esim/purchases/${id}/refund`), undefined, 'POST')
  await buy('esim', { offerId: 'TEST-ESIM-HANG', transactionId: 'R0' })
  expect((await refunded('R0')).status).toBe(400)
  await buy('esim', { ...esim, transactionId: 'R1' })
  await finalOf(url('esim/purchases/R1'))
  const balance = async () => (await ask(url('balance'))).body.availableBalance
  const before = await balance()
  for (let times = 0; times < 3; times += 1) expect((await refunded('R1')).status).toBe(200)
  expect(await finalOf(url('esim/purchases/R1/refund'))).toMatchObject({
    ...{ amount: 45, productType: 'REFUND', refundedTransactionId: 'R1', type: 'CREDIT' },
  })
  expect(await balance()).toBe(before + 45)
})

test('fees are charged besides the cost', async () => {
  await buy('esim', { offerId: 'DIRTY-ESIM-KEEP-COST-FEES', transactionId: 'FEES' })
  const { cost, costBase, costFee } = await finalOf(url('esim/purchases/FEES'))
  expect({ cost, costBase, costFee }).toEqual({ cost: 1040, costBase: 990, costFee: 50 })
})

test('keeps purchases, refunds and wallet, finishes what was begun, and takes no id twice', async () => {
  const order = (at: Supplier, transactionId: string, offerId = 'TEST-ESIM-OK') =>
    ask(`${at.url}/v1/esim/purchases`, { offerId, transactionId })
  const first = await startTestSupplier({ dataFile: dataFile() })
  await order(first, 'DONE1')
  const done = await finalOf(`${first.url}/v1/esim/purchases/DONE1`)
  await ask(`${first.url}/v1/esim/purchases/DONE1/refund`, undefined, 'POST')
  await order(first, 'OPEN1')
  await order(first, 'LATE1', 'TEST-ESIM-LATE')
  await Promise.all([first.stop(), first.stop()])

  appendFileSync(dataFile(), '{"entries":[{"type":"purch')
  const second = await startTestSupplier({ dataFile: dataFile() })
  try {
    for (const id of ['OPEN1', 'LATE1', 'DONE1/refund'])
      expect((await finalOf(`${second.url}/v1/esim/purchases/${id}`)).status).toBe('DONE')
    const kept = (await ask(`${second.url}/v1/esim/purchases/DONE1`)).body
    expect(kept.confirmation).toEqual(done.confirmation)
    expect((await order(second, 'OPEN1')).status).toBe(400)
    const { body } = await ask(`${second.url}/_admin/ledger`)
    expect(body.wallet).toEqual({ available: 100_000_000 - 45 - 65, held: 0, spent: 45 + 65 })
  } finally {
    await second.stop()
  }
  for (const line of readFileSync(dataFile(), 'utf8').trim().split('\n')) JSON.parse(line)
})
