import type { Pool } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  asked,
  failed,
  fulfilled,
  orderOnRecord,
  signedFor,
} from '../../../test/fixtures/sample-orders.ts'
import { usdc } from '../../lib/money.ts'
import { goodwillFor, goodwillReferenceOf } from '../../orders/goodwill.ts'
import type { In } from '../../orders/order.ts'
import type { Payout } from '../../orders/payout.ts'
import type { Goodwill, GoodwillStore } from '../../orders/ports.ts'
import type { SignedRefund } from '../../payments/payment.ts'
import { createGoodwillStore } from './goodwill.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'

const postgres = migratedPostgres()
const amount = usdc(5_000_000n)
const caps = { hour: usdc(10n ** 30n), day: usdc(10n ** 30n) }
const now = new Date('2026-03-02T10:00:00Z')
const paid = { state: 'CONFIRMED', transaction: `0x${'b'.repeat(64)}`, confirmedAt: now } as const
const failedPayout = { state: 'FAILED', code: 'no_float', reason: 'empty' } as const
let pool: Pool
let store: GoodwillStore

beforeAll(async () => {
  pool = await postgres.open()
  store = createGoodwillStore(pool)
})

async function toGive(): Promise<Goodwill> {
  const order = await orderOnRecord(createOrderStore(pool), fulfilled(asked()))
  const made = goodwillFor(order, { amount, reason: 'late', by: 'ada' }, now)
  if (typeof made === 'string') throw new Error(made)
  return made
}

const grant = ({ id }: Goodwill) => createPayoutLimits(pool, caps).allow(goodwillReferenceOf(id))

function signed(goodwill: Goodwill, changes: object = {}): Goodwill {
  const signed = { ...signedFor(goodwill), ...changes } as SignedRefund
  return { ...goodwill, payout: { state: 'APPROVED', signed } }
}

/** Goodwill on record that was granted and signed. */
async function approved(): Promise<Goodwill> {
  const given = await toGive()
  await store.give(given)
  await grant(given)
  return (await store.move(given, signed(given))).record
}

test('is read as it was written, in every state', async () => {
  const given = await toGive()
  expect(await store.give(given)).toBe(true)
  expect(await store.give(given)).toBe(false)
  expect(await store.find(given.id)).toEqual(given)
  await grant(given)
  let before = given
  const refund = signedFor(given)
  const payouts: readonly Payout[] = [
    { state: 'APPROVED', signed: refund },
    { ...failedPayout, signed: refund },
    { state: 'DUE', signed: refund },
    { state: 'APPROVED', signed: refund },
    paid,
  ]
  for (const payout of payouts) {
    const { won, record } = await store.move(before, { ...before, payout })
    expect(won).toBe(true)
    expect(await store.find(given.id)).toEqual(record)
    before = record
  }
})

describe('the database takes no goodwill', () => {
  test('for an order that was not delivered', async () => {
    const order = await orderOnRecord(createOrderStore(pool), failed(asked()))
    const { id, payment, receipt } = order as In<'FULFILLMENT_FAILED'>
    const made = { ...(await toGive()), id, payment, receipt } as Goodwill
    await expect(store.give(made)).rejects.toThrow('cannot be given')
  })

  test.each<[string, (goodwill: Goodwill) => object]>([
    [
      'for somebody else',
      ({ payment }) => ({ payment: { ...payment, payer: `0x${'9'.repeat(40)}` } }),
    ],
    ['above the price', () => ({ amount: usdc(10n ** 12n) })],
    ['that is paid already', () => ({ payout: paid })],
  ])('%s', async (_, change) => {
    const made = await toGive()
    await expect(store.give({ ...made, ...change(made) })).rejects.toThrow(/goodwill/)
  })

  test('that is signed without a grant', async () => {
    const given = await toGive()
    await store.give(given)
    await expect(store.move(given, signed(given))).rejects.toThrow('its goodwill was not granted')
  })

  test.each([
    ['another amount', { amount: usdc(5_000_001n) }],
    ['another payee', { to: `0x${'9'.repeat(40)}` }],
  ])('that is signed for %s', async (_, change) => {
    const given = await toGive()
    await store.give(given)
    await grant(given)
    await expect(store.move(given, signed(given, change))).rejects.toThrow('goes to the payer')
  })

  test('that is paid without having been signed', async () => {
    const given = await toGive()
    await store.give(given)
    await expect(store.move(given, { ...given, payout: paid })).rejects.toThrow('cannot go from')
  })
})

test('paid goodwill never changes', async () => {
  const one = await approved()
  const { record } = await store.move(one, { ...one, payout: paid })
  await expect(store.move(record, { ...record, payout: { state: 'DUE' } })).rejects.toThrow(
    'cannot go from CONFIRMED to DUE',
  )
})

test.each([
  ['its amount', 'update goodwill set amount = 1 where id = $1', 'never changes'],
  ['its payer', `update goodwill set payer = '0x1' where id = $1`, 'never changes'],
  [
    'its document alone',
    `update goodwill set doc = doc || '{"a": 1}' where id = $1`,
    'is a version',
  ],
])('a statement typed on a console cannot change %s', async (_, sql, why) => {
  const { id } = await approved()
  await expect(pool.query(sql, [id])).rejects.toThrow(why)
})

test('is granted once, and only while it is due', async () => {
  const given = await toGive()
  await expect(grant(given)).rejects.toThrow('nothing is due')
  await store.give(given)
  expect(await grant(given)).toBe('granted')
  expect(await grant(given)).toBe('granted')
  const { rows } = await pool.query(
    `select amount::text from payout_grants where reference = $1 and kind = 'goodwill'`,
    [goodwillReferenceOf(given.id)],
  )
  expect(rows).toEqual([{ amount: '5000000' }])
})
