import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestPostgres, type TestPostgres } from '../../../sandbox/postgres/test-postgres.ts'
import type { Offer } from '../../catalog/offer.ts'
import { packOffers } from '../../catalog/offer-records.ts'
import type { Snapshot } from '../../catalog/ports.ts'
import type { OfferId } from '../../lib/ids.ts'
import { createSnapshotStore } from './snapshots.ts'

let postgres: TestPostgres
let database: pg.Client

beforeAll(async () => {
  postgres = await startTestPostgres()
  database = new pg.Client({ connectionString: postgres.databaseUrl })
  await database.connect()
})

beforeEach(async () => {
  await database.query('drop table if exists catalog_snapshot')
  await database.query(`create table catalog_snapshot (
    id bigint generated always as identity primary key,
    read_at timestamptz not null, offers integer not null,
    set_aside jsonb not null, body bytea not null, held jsonb not null default '{}')`)
})

afterAll(async () => {
  await database.end()
  await postgres.stop()
})

function snapshotOf(count: number, day = 1): Snapshot {
  const offers = Array.from({ length: count }, (_, index): Offer => {
    return {
      kind: 'voucher',
      id: `OFFER_${index}` as OfferId,
      source: { supplier: 'zendit', product: `OFFER_${index}` },
      brand: 'CAFÉ',
      brandName: 'Café 😀',
      country: 'FR',
      regions: ['Western Europe'],
      subTypes: ['Restaurant'],
      productType: 'VOUCHER',
      notes: 'line\nline',
      price: { type: 'FIXED', currency: 'EUR', divisor: 100, fixed: index + 1 },
      cost: { currency: 'EUR', divisor: 100, min: 1, max: 1 },
      requiredFields: [],
    }
  })
  return {
    offers: packOffers(offers),
    rejected: { disabled: 2 },
    readAt: new Date(Date.UTC(2026, 9, day)),
    held: { topup: new Date(Date.UTC(2026, 8, day)) },
  }
}

it('has nothing on a first start', async () => {
  expect(await createSnapshotStore(database).load()).toBeUndefined()
})

it.each([0, 1, 7, 8, 9, 2_500])('gives back %i offers as they were', async (count) => {
  const store = createSnapshotStore(database)
  await store.save(snapshotOf(count))
  expect(await store.load()).toEqual(snapshotOf(count))
})

it('gives the newest and keeps one more', async () => {
  const store = createSnapshotStore(database)
  for (const day of [1, 2, 3]) await store.save(snapshotOf(5, day))
  expect(await store.load()).toEqual(snapshotOf(5, 3))
  const { rows } = await database.query('select read_at from catalog_snapshot order by id')
  expect(rows.map((row) => row.read_at)).toEqual([snapshotOf(5, 2).readAt, snapshotOf(5, 3).readAt])
})

const harm =
  'update catalog_snapshot set body = $1 where id = (select max(id) from catalog_snapshot)'

it('falls back to the list before a damaged one, and throws when there is none', async () => {
  const store = createSnapshotStore(database)
  await store.save(snapshotOf(5, 1))
  await store.save(snapshotOf(6, 2))
  await database.query(harm, [Buffer.from('K402-7\n\u0000\u0000\u0000\u0005hello')])
  expect(await store.load()).toEqual(snapshotOf(5, 1))
  await database.query('delete from catalog_snapshot where offers = 5')
  await expect(store.load()).rejects.toThrow()
})

it.each([
  'substring(body for length(body) - 1)',
  "overlay(body placing 'x' from length(body) - 3)",
  "overlay(body placing '\\001' from 45)",
])('takes a list for damaged whose body became %s', async (changed) => {
  const store = createSnapshotStore(database)
  await store.save(snapshotOf(5))
  await database.query(`update catalog_snapshot set body = ${changed}`)
  await expect(store.load()).rejects.toThrow('not whole')
})

it('passes over a list that another version wrote', async () => {
  const store = createSnapshotStore(database)
  await store.save(snapshotOf(5))
  await database.query(harm, [Buffer.from('K402-9\nwhatever')])
  expect(await store.load()).toBeUndefined()
})
