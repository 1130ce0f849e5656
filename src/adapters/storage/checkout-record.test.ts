import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import {
  closed,
  ended,
  moveOn,
  opened,
  opening,
  openOnRecord,
  payment,
  placedOnRecord,
  returning,
  stepping,
} from '../../../test/fixtures/sample-checkouts.ts'
import type { Checkout } from '../../checkouts/checkout.ts'
import { createCheckoutStore } from './checkouts.ts'
import { checkoutFacts } from './facts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createCheckoutRecord } from './record.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeEach(async () => {
  pool = await postgres.open()
  return () => pool.end()
})

const record = () => createCheckoutRecord(pool)
const records = () => ({ store: createCheckoutStore(pool), orders: createOrderStore(pool) })

/** Runs SQL that the triggers would refuse. */
function byHand(sql: string) {
  return pool.query(`begin; set local session_replication_role = replica; ${sql}; commit`)
}

async function all(): Promise<Checkout[]> {
  const found: Checkout[] = []
  for await (const page of record().all()) found.push(...page)
  return found
}

test('a record without checkouts has nothing to tell', async () => {
  expect(await all()).toEqual([])
  expect(await record().ledger()).toEqual(new Map())
  expect(await record().misbooked()).toEqual([])
  expect(await record().strayOrders()).toEqual([])
})

test('checkouts are listed whole', async () => {
  const open = await openOnRecord(records)
  expect(await all()).toEqual([open])
})

test('the ledger sums up each coin, and names the checkout whose entries were changed', async () => {
  const placed = await placedOnRecord(records)
  const open = await openOnRecord(records)
  const part = await moveOn(records, open, returning(ended(open, [payment(900n)]), 900n))
  const first = opening({ coin: 'XMR' })
  const { checkout } = await records().store.open(first)
  await moveOn(records, checkout, opened(first, { payments: [payment(7n)] }))
  const none = { received: 0n, price: 0n, due: 0n, returned: 0n, kept: 0n }
  expect(await record().ledger()).toEqual(
    new Map([
      ['BTC', { ...none, received: 13_400n, price: -12_500n, due: -900n }],
      ['XMR', { ...none, received: 7n, due: -7n }],
    ]),
  )
  expect(await record().misbooked()).toEqual([])
  await byHand(`update checkout_ledger set units = units - 1
    where checkout_id = '${part.id}' and account = 'due';
    delete from checkout_ledger where checkout_id = '${placed.id}' and account = 'price'`)
  const found = await record().misbooked()
  expect(found).toHaveLength(2)
  expect(found).toContainEqual({
    ...{ checkout: part.id, coin: 'BTC', account: 'due', booked: -901n, due: -900n },
  })
  expect(found).toContainEqual({
    ...{ checkout: placed.id, coin: 'BTC', account: 'price', booked: 0n, due: -12_500n },
  })
})

test('an order of an invoice that no checkout has decided on is a stray', async () => {
  const placed = await placedOnRecord(records)
  expect(await record().strayOrders()).toEqual([])
  await byHand(`update checkouts set state = 'ENDED', price = null, is_placed = null,
    doc = jsonb_set(doc, '{state}', '"ENDED"') where id = '${placed.id}'`)
  expect(await record().strayOrders()).toEqual([placed.orderId])
})

test('what is under way is counted, and nothing that is closed', async () => {
  const returnsGranted = { hour: 0n, day: 0n }
  const late = { payoutsLate: 0, returnsGranted }
  const none = { returnsPending: 0, returnsFailed: 0, oldestReturnSince: undefined, ...late }
  expect(await checkoutFacts(pool)).toEqual({ openByState: {}, ...none })
  const back = async () => {
    const open = await openOnRecord(records)
    return moveOn(records, open, returning(ended(open, [payment(900n)]), 900n))
  }
  const first = await back()
  const failed = await back()
  await moveOn(records, failed, stepping(failed, 'FAILED'))
  await placedOnRecord(records)
  const over = await openOnRecord(records)
  await moveOn(records, over, closed(ended(over)))
  await openOnRecord(records)
  const { rows } = await pool.query(
    'select at from checkout_events where checkout_id = $1 and seq = 3',
    [first.id],
  )
  expect(await checkoutFacts(pool)).toEqual({
    openByState: { OPEN: 1, ORDERED: 1, ENDED: 2 },
    ...{ returnsPending: 1, returnsFailed: 1, oldestReturnSince: rows[0].at, ...late },
  })
})
