import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { ask, finalOf, person, startTestSupplier } from './client.fixture.ts'
import { luhnDigit } from './records.ts'
import type { Supplier } from './server.ts'

let supplier: Supplier
beforeAll(async () => {
  supplier = await startTestSupplier()
})
afterAll(() => supplier.stop())
const url = (path: string) => `${supplier.url}/v1/${path}`
const buy = (family: string, body: object) => ask(url(`${family}/purchases`), body)
const voucher = (transactionId: string, offerId = 'TEST-VOUCHER-OK', more = {}) =>
  buy('vouchers', { offerId, transactionId, fields: person, ...more })
const topup = (transactionId: string, offerId: string, recipientPhoneNumber: string, more = {}) =>
  buy('topups', { offerId, transactionId, recipientPhoneNumber, ...more })
const audit = async (id: string) => {
  const { body } = await ask(`${supplier.url}/_admin/ledger`)
  return body.purchases.find((entry: { transactionId: string }) => entry.transactionId === id)
}

test('a voucher passes every state and is delivered with a code of its own', async () => {
  expect(await voucher('V1')).toEqual({
    status: 200,
    body: { status: 'ACCEPTED', transactionId: 'V1' },
  })
  const done = await finalOf(url('vouchers/purchases/V1'))
  expect(done.log.map((item: { status: string }) => item.status)).toEqual([
    'ACCEPTED',
    'PENDING',
    'AUTHORIZED',
    'IN_PROGRESS',
    'DONE',
  ])
  expect(done.receipt.epin).toMatch(/^SBX(-[2-9A-HJ-NP-Z]{4}){4}$/)
  expect(done).toMatchObject({
    price: 50,
    cost: 45,
    send: 50,
    productType: 'VOUCHER',
    fields: person,
  })
  await voucher('V2')
  expect((await finalOf(url('vouchers/purchases/V2'))).receipt.epin).not.toBe(done.receipt.epin)
  expect(await audit('V1')).toMatchObject({
    charged: 45,
    held: 0,
    deliveries: 1,
    secrets: [done.receipt.epin],
  })
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

test('an open value is bought on each of its three sides, within bounds and steps', async () => {
  const open = (id: string, value?: object) =>
    voucher(id, 'TEST-VOUCHER-OPEN', value ? { value } : {})
  expect((await open('O1', { type: 'PRICE', value: 25 })).status).toBe(200)
  expect(await finalOf(url('vouchers/purchases/O1'))).toMatchObject({
    price: 25,
    send: 25,
    value: { type: 'PRICE', value: 25 },
  })
  expect((await open('O2', { type: 'ZEND', value: 33 })).status).toBe(200)
  for (const value of [
    undefined,
    { type: 'PRICE', value: 26 },
    { type: 'PRICE', value: 5 },
    { type: 'PRICE', value: 100 },
    { type: 'PRICE', value: 12.5 },
    { type: 'USD', value: 25 },
  ]) {
    expect((await open('O3', value)).status).toBe(400)
  }
  const fixed = await voucher('O4', 'TEST-VOUCHER-OK', { value: { type: 'PRICE', value: 50 } })
  expect(fixed.body.fields).toHaveProperty('value')
})

test('what cannot be bought is refused and not kept', async () => {
  expect((await voucher('N1', 'NONE')).status).toBe(404)
  expect((await voucher('N1', 'DIRTY-VOUCHERS-DISABLED')).status).toBe(404)
  expect((await voucher('N1', 'DIRTY-VOUCHERS-NO-PRICE')).status).toBe(404)
  expect((await voucher('N1', 'TEST-VOUCHER-OK', { fields: [] })).body.fields).toEqual({
    'recipient.firstName': 'is required',
    'recipient.lastName': 'is required',
  })
  expect((await voucher('not-plain')).body.fields).toHaveProperty('transactionId')
  expect((await voucher('N1', 'TEST-VOUCHER-DECLINED')).status).toBe(400)
  expect((await ask(url('vouchers/purchases/N1'))).status).toBe(404)
})

test('a topup goes to a mobile number of the country only', async () => {
  const value = { value: { type: 'PRICE', value: 1000 } }
  expect((await topup('P1', 'TEST-TOPUP-OK', '+12025550123')).status).toBe(200)
  expect(await finalOf(url('topups/purchases/P1'))).toMatchObject({
    status: 'DONE',
    recipientPhoneNumber: '+12025550123',
    confirmation: { confirmationNumber: expect.stringMatching(/^\d{12}$/) },
  })
  expect((await topup('P2', 'CUBACEL_CU_OPEN', '+5355564362', value)).status).toBe(200)
  for (const [offer, number] of [
    ['TEST-TOPUP-OK', '+4915112345678'],
    ['TEST-TOPUP-OK', '12025550123'],
    ['CUBACEL_CU_OPEN', '+12025550123'],
    ['CUBACEL_CU_OPEN', '+531'],
    ['CUBACEL_CU_OPEN', '+5372041234'],
  ] as const) {
    const refused = await topup('P3', offer, number, offer === 'CUBACEL_CU_OPEN' ? value : {})
    expect([number, Object.keys(refused.body.fields)]).toEqual([number, ['recipientPhoneNumber']])
  }
})

test('an eSIM comes with a true number and its plan, and can be topped up', async () => {
  await buy('esim', { offerId: 'TEST-ESIM-OK', transactionId: 'E1' })
  const { confirmation } = await finalOf(url('esim/purchases/E1'))
  expect(confirmation.iccid).toMatch(/^89\d{17}$/)
  expect(luhnDigit(confirmation.iccid.slice(0, -1))).toBe(confirmation.iccid.at(-1))
  await buy('esim', { offerId: 'TEST-ESIM-OK', transactionId: 'E2', iccid: confirmation.iccid })
  expect((await finalOf(url('esim/purchases/E2'))).confirmation.iccid).toBe(confirmation.iccid)
  const plans = await ask(url(`esim/${confirmation.iccid}/plans`))
  expect(plans.body.list.map((plan: { status: string }) => plan.status)).toEqual([
    'ACTIVE',
    'QUEUED',
  ])
  const bad = await buy('esim', { offerId: 'TEST-ESIM-OK', transactionId: 'E3', iccid: '12345' })
  expect(bad.body.fields).toHaveProperty('iccid')
})

test('a delivered eSIM is refunded once', async () => {
  await buy('esim', { offerId: 'TEST-ESIM-HANG', transactionId: 'R0' })
  expect((await ask(url('esim/purchases/R0/refund'), undefined, 'POST')).status).toBe(400)
  await buy('esim', { offerId: 'TEST-ESIM-OK', transactionId: 'R1' })
  await finalOf(url('esim/purchases/R1'))
  const before = (await ask(url('balance'))).body.availableBalance
  for (let times = 0; times < 3; times += 1) {
    expect((await ask(url('esim/purchases/R1/refund'), undefined, 'POST')).status).toBe(200)
  }
  const refund = await finalOf(url('esim/purchases/R1/refund'))
  expect(refund).toMatchObject({
    amount: 45,
    productType: 'REFUND',
    refundedTransactionId: 'R1',
    type: 'CREDIT',
  })
  expect((await ask(url('balance'))).body.availableBalance).toBe(before + 45)
  expect((await ask(url('esim/purchases/R1'))).body.refund).toEqual({ status: 'DONE' })
  await voucher('R2')
  expect((await ask(url('esim/purchases/R2/refund'), undefined, 'POST')).status).toBe(404)
})

test.each([
  ['vouchers', 'TEST-VOUCHER', 'PRODUCT_OUT_OF_STOCK', { fields: person }],
  ['topups', 'TEST-TOPUP', 'CARRIER_REJECTED', { recipientPhoneNumber: '+12025550123' }],
  ['esim', 'TEST-ESIM', 'ESIM_OUT_OF_STOCK', {}],
])('the test offers of %s do what they are named for', async (family, offer, code, body) => {
  const id = (outcome: string) => `${family}${outcome}`
  const order = (outcome: string) =>
    buy(family, { offerId: `${offer}-${outcome}`, transactionId: id(outcome), ...body })
  const look = (outcome: string) => url(`${family}/purchases/${id(outcome)}`)
  const started = performance.now()
  const took = async (outcome: string) => {
    const { status } = await finalOf(look(outcome))
    return { status, ms: performance.now() - started }
  }
  for (const outcome of ['OK', 'SLOW', 'FAIL', 'HANG', 'LATE'])
    expect((await order(outcome)).status).toBe(200)
  expect(await order('LOST')).toMatchObject({
    status: 503,
    body: { errorCode: 'SYSTEM_UNAVAILABLE' },
  })
  expect((await order('DECLINED')).status).toBe(400)
  expect((await took('OK')).status).toBe('DONE')
  expect((await took('LOST')).status).toBe('DONE')
  expect(await finalOf(look('FAIL'))).toMatchObject({ status: 'FAILED', error: { code } })
  expect(await audit(id('FAIL'))).toMatchObject({
    charged: 0,
    held: 0,
    deliveries: 0,
    secrets: [],
  })
  const late = await took('LATE')
  expect([late.status, late.ms > 390]).toEqual(['DONE', true])
  const slow = await took('SLOW')
  expect([slow.status, slow.ms > 900]).toEqual(['DONE', true])
  expect((await ask(look('HANG'))).body.status).toBe('IN_PROGRESS')
  expect((await ask(look('DECLINED'))).status).toBe(404)
  await ask(`${supplier.url}/_admin/purchases`, { transactionId: id('HANG'), status: 'FAILED' })
  expect((await ask(look('HANG'))).body.status).toBe('FAILED')
})

test('purchases are listed newest first, by state and time', async () => {
  await voucher('L1')
  await voucher('L2')
  await finalOf(url('vouchers/purchases/L2'))
  const list = (query: string) => ask(url(`vouchers/purchases?_limit=2&_offset=0${query}`))
  expect((await list('')).body.list.map((p: { transactionId: string }) => p.transactionId)).toEqual(
    ['L2', 'L1'],
  )
  expect((await list('&status=HANGING')).body.total).toBe(0)
  expect((await list('&createdAt=lt2020-01-01T00:00:00Z')).body.total).toBe(0)
  expect((await list('&createdAt=gte2020-01-01T00:00:00Z')).body.total).toBeGreaterThan(1)
  expect((await list('&createdAt=yesterday')).status).toBe(400)
})

test('an empty wallet fails the purchase and takes nothing; a full one holds, then takes', async () => {
  const setBalance = (availableBalance: number) =>
    ask(`${supplier.url}/_admin/balance`, { availableBalance })
  await setBalance(44)
  expect((await voucher('W1')).status).toBe(200)
  const failed = await finalOf(url('vouchers/purchases/W1'))
  expect(failed.error.code).toBe('INSUFFICIENT_FUNDS')
  expect((await ask(url('balance'))).body).toEqual({
    availableBalance: 44,
    currency: 'USD',
    currencyDivisor: 100,
  })
  await setBalance(100)
  await buy('esim', { offerId: 'TEST-ESIM-HANG', transactionId: 'W2' })
  await until(async () => ((await audit('W2')).held === 60 ? true : undefined))
  expect((await ask(url('balance'))).body.availableBalance).toBe(40)
  await ask(`${supplier.url}/_admin/purchases`, { transactionId: 'W2', status: 'FAILED' })
  expect((await ask(url('balance'))).body.availableBalance).toBe(100)
  await voucher('W3')
  await finalOf(url('vouchers/purchases/W3'))
  expect((await ask(url('balance'))).body.availableBalance).toBe(55)
  await setBalance(1_000_000)
})

test('what the real supplier refuses is refused here', async () => {
  const faults = async (answer: ReturnType<typeof buy>) => Object.keys((await answer).body.fields)
  const us = 'TEST-TOPUP-OK'
  expect(await faults(topup('UNKIND1', us, '+18095551234'))).toEqual(['recipientPhoneNumber'])
  const open = { value: { type: 'PRICE', value: 1000 } }
  const trunk = topup('UNKIND2', 'SAFARICOM_KE_OPEN', '+2540712345678', open)
  expect(await faults(trunk)).toEqual(['recipientPhoneNumber'])
  const iccid = '8910390000000000000'
  expect(
    await faults(buy('esim', { offerId: 'TEST-ESIM-OK', transactionId: 'UNKIND3', iccid })),
  ).toEqual(['iccid'])
  const value = { type: 'PRICE', value: 100 }
  expect(
    await faults(buy('esim', { offerId: 'TEST-ESIM-OK', transactionId: 'UNKIND4', value })),
  ).toEqual(['value'])
  const fields = [...person, { key: 'recipient.nickname', value: 'Ada' }]
  expect(await faults(voucher('UNKIND5', undefined, { fields }))).toEqual(['recipient.nickname'])
})

test('fees are charged besides the cost', async () => {
  const plan = { offerId: 'DIRTY-ESIM-KEEP-COST-FEES', transactionId: 'FEES' }
  expect((await buy('esim', plan)).status).toBe(200)
  const { cost, costBase, costFee } = await finalOf(url('esim/purchases/FEES'))
  expect({ cost, costBase, costFee }).toEqual({ cost: 1040, costBase: 990, costFee: 50 })
})
