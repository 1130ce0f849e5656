import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { placedOnRecord } from '../../test/fixtures/sample-checkouts.ts'
import {
  asked,
  failed,
  fulfilled,
  orderOnRecord,
  pending,
  refunded,
  wanted,
} from '../../test/fixtures/sample-orders.ts'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import type { Charge } from '../catalog/offer.ts'
import type { Order } from '../orders/order.ts'
import { type Book, type BookRow, bookRows } from './books.ts'

const postgres = migratedPostgres()
let database: Pool

beforeEach(async () => {
  database = await postgres.open()
  return () => database.end()
})

const span = { from: new Date('2026-03-01T00:00:00Z'), to: new Date('2026-04-01T00:00:00Z') }
const always = { from: new Date(0), to: new Date('2100-01-01') }

const record = (order: Order) => orderOnRecord(createOrderStore(database), order)

async function rowsOf(book: Book, within = span): Promise<readonly BookRow[]> {
  const rows: BookRow[] = []
  for await (const page of bookRows({ database }, book, within)) rows.push(...page)
  return rows
}

const eur: Charge = { amount: 2_100, currency: 'EUR', divisor: 100 }
const item = { ...wanted.item, charge: { ...eur, perUsd: 0.84 } }
const gas = { wei: 21_000_000_000_000n, ethUsd: 3_000 }

test('a delivered order has what it sold for, what its supplier charged, and its gas', async () => {
  const order = fulfilled(asked({ item }))
  const receipt = { ...order.receipt, gas } as typeof order.receipt
  const { id } = await record({ ...order, receipt, charge: { ...eur, amount: 840 } })
  expect(await rowsOf('orders')).toEqual([
    {
      order: id,
      placed_at: '2026-03-01T10:00:00.123Z',
      state: 'FULFILLED',
      refund_state: null,
      kind: 'voucher',
      brand: 'Test',
      offer: 'TEST-VOUCHER-OK',
      country: 'DE',
      face_value: '21.47',
      face_currency: 'EUR',
      paid_in: 'USDC',
      paid_amount: '12.500000',
      usd_per_unit: '1.000000',
      price_usd: '12.500000',
      received_usd: '12.500000',
      refunded_usd: '0.000000',
      goodwill_usd: '0.000000',
      supplier: 'zendit',
      supplier_reference: id.replace('_', ''),
      cost: '8.40',
      cost_currency: 'EUR',
      cost_usd: '10.000000',
      margin_usd: '2.500000',
      gas_in_wei: '21000000000000',
      gas_out_wei: '0',
      gas_usd: '0.063000',
      vat_treatment: 'multi_purpose_voucher',
      vat_place: 'redemption',
      payment_transaction: receipt.transaction,
      refund_transaction: null,
    },
  ])
})

test('nobody charged for what failed, whatever was listed', async () => {
  await record(refunded(failed(asked({ item }))))
  expect(await rowsOf('orders')).toMatchObject([
    {
      ...{ state: 'FULFILLMENT_FAILED', refund_state: 'REFUNDED', refunded_usd: '12.500000' },
      ...{ cost: null, cost_currency: null, cost_usd: '0.000000', margin_usd: '0.000000' },
    },
  ])
})

test('goods that came too late and were not taken back are a cost', async () => {
  const late = { supply: { state: 'LOST' }, charge: { ...eur, currency: 'USD' } } as const
  await record({ ...refunded(failed(asked({ item }))), ...late })
  expect(await rowsOf('orders')).toMatchObject([{ cost: '21.00', margin_usd: '-21.000000' }])
})

test('a cost that the supplier never said is unknown, and so is the margin', async () => {
  await record(fulfilled(asked()))
  expect(await rowsOf('orders')).toMatchObject([{ cost_usd: null, margin_usd: null }])
})

test('the place of a telecom service is the country of the line', async () => {
  await record(pending({ item: { ...item, kind: 'topup' } }))
  expect(await rowsOf('orders')).toMatchObject([
    { kind: 'topup', vat_treatment: 'telecom_service', vat_place: 'DE', received_usd: '0.000000' },
  ])
})

test('orders of another month are in another export', async () => {
  await record(pending({ placedAt: span.to }))
  expect(await rowsOf('orders')).toEqual([])
  expect(await rowsOf('orders', { from: span.to, to: always.to })).toHaveLength(1)
})

test('the entries of the ledger sum to zero', async () => {
  const { id } = await record(refunded(failed(asked())))
  const rows = await rowsOf('ledger', always)
  expect(rows.map(({ account, amount }) => [account, amount])).toEqual([
    ['open', '-12.500000'],
    ['received', '12.500000'],
    ['open', '12.500000'],
    ['refunded', '-12.500000'],
  ])
  expect(rows[0]).toMatchObject({ subject: id, unit: 'USD', paid_in: 'USDC' })
})

test('an order paid in a coin has what was paid, at which rate, and the ledger has the coin', async () => {
  const [store, orders] = [createCheckoutStore(database), createOrderStore(database)]
  const { id } = await placedOnRecord(() => ({ store, orders }))
  expect(await rowsOf('orders')).toMatchObject([
    { paid_in: 'BTC', paid_amount: '0.00012500', usd_per_unit: '100000.000000' },
  ])
  const rows = await rowsOf('ledger', always)
  expect(rows.filter(({ subject }) => subject === id)).toMatchObject([
    { account: 'price', amount: '-0.00012500', unit: 'BTC', paid_in: 'BTC' },
    { account: 'received', amount: '0.00012500' },
  ])
})
