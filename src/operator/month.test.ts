import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { orderOnRecord } from '../../test/fixtures/sample-orders.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { createCheckoutRecord, createStoreRecord } from '../adapters/storage/record.ts'
import { usdc } from '../lib/money.ts'
import {
  lives,
  look,
  sourcesOf,
  transfer,
  type World,
  worldOf,
} from '../reconcile/world.fixture.ts'
import { closeMonth, spanOfMonth } from './month.ts'

const postgres = migratedPostgres()
let database: Pool
let world: World

const charge = { amount: 45, currency: 'USD', divisor: 100 }

beforeEach(async () => {
  database = await postgres.open()
  const { order, ...sold } = lives.delivered()
  world = worldOf([{ ...sold, order: { ...order, charge } }, lives.refunded()])
  const store = createOrderStore(database)
  for (const one of world.orders) await orderOnRecord(store, one)
  return () => database.end()
})

/** The month of every sample; its blocks are 100 to 900. */
async function close() {
  const made = sourcesOf(world)
  const blockAt = async (time: Date) => (time < new Date('2026-03-15') ? 100 : 901)
  const sources = {
    ...made,
    chain: { ...made.chain, blockAt },
    store: createStoreRecord(database),
    checkouts: createCheckoutRecord(database),
  }
  const now = () => new Date('2026-04-02T00:00:00Z')
  return closeMonth({ database, now }, sources, look, '2026-03')
}

test('a month closes when the chain and the suppliers have what the record has', async () => {
  const month = await close()
  expect(month).toMatchObject({ isOver: true, closes: true, why: [], silent: [] })
  const says = { source_says: '12.500000', difference: '0.000000' }
  expect(month.rows.filter(({ source }) => source !== null)).toEqual([
    expect.objectContaining({ line: 'payments', change: '25.000000', source_says: '25.000000' }),
    expect.objectContaining({ line: 'refunds and goodwill', change: '12.500000', ...says }),
    expect.objectContaining({ line: 'charged', unit: 'USD', change: '0.45', difference: '0.00' }),
  ])
})

test('a unit that the chain has more is named', async () => {
  world.received[0] = { ...transfer(world.received[0]), amount: usdc(12_500_001n) }
  const { closes, why } = await close()
  expect(closes).toBe(false)
  expect(why).toContain('payments in USDC differ by 0.000001')
})

test('a cent that the supplier charges more is named, by its order too', async () => {
  world.purchases = world.purchases.map((one) => ({ ...one, cost: { ...one.cost, amount: 46 } }))
  const { why } = await close()
  expect(why).toEqual([
    'charged in USD differ by 0.01',
    'differences between the record and its sources: 1',
  ])
})

test.each([
  ['2026-05', '2026-05 has not begun'],
  ['2026-13', '"2026-13" is no month'],
])('%s is refused', (month, message) => {
  expect(() => spanOfMonth(month, new Date('2026-04-30T12:00:00Z'))).toThrow(message)
})

test('the present month ends now, and is not over', () => {
  const now = new Date('2026-04-30T12:00:00Z')
  const from = new Date('2026-04-01T00:00:00Z')
  expect(spanOfMonth('2026-04', now)).toEqual({ from, to: now, isOver: false })
})
