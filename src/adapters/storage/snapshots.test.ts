import type { Pool } from 'pg'
import { beforeEach, expect, it } from 'vitest'
import type { Offer } from '../../catalog/offer.ts'
import type { Snapshot } from '../../catalog/ports.ts'
import type { OfferId } from '../../lib/ids.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createSnapshotStore } from './snapshots.ts'

const postgres = migratedPostgres()
let database: Pool

beforeEach(async () => {
  database = await postgres.open()
  return () => database.end()
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
    offers,
    rejected: { disabled: 2 },
    readAt: new Date(Date.UTC(2026, 9, day)),
    held: { topup: new Date(Date.UTC(2026, 8, day)) },
  }
}

it.each([0, 1, 500, 501, 2_500])('gives back %i offers as they were', async (count) => {
  const store = createSnapshotStore(database)
  await store.save(snapshotOf(count))
  expect(await store.load()).toEqual(snapshotOf(count))
})

const rowsIn = async (table: string) =>
  (await database.query(`select count(*)::int as rows from ${table}`)).rows[0].rows

it('keeps the newest alone', async () => {
  const store = createSnapshotStore(database)
  for (const day of [1, 2, 3]) await store.save(snapshotOf(600, day))
  expect(await store.load()).toEqual(snapshotOf(600, 3))
  expect([await rowsIn('catalog_snapshot'), await rowsIn('catalog_pages')]).toEqual([1, 2])
})

it('does not write again what was read a second time', async () => {
  const store = createSnapshotStore(database)
  const first = snapshotOf(600)
  await store.save(first)
  const again = { ...snapshotOf(0, 2), offers: first.offers, rejected: { no_brand: 1 } }
  const written = async () => (await database.query('select xmin from catalog_pages')).rows
  const before = await written()
  await store.save(again)
  expect(await written()).toEqual(before)
  expect(await store.load()).toEqual(again)
  // Another node has replaced it meanwhile.
  await database.query('truncate catalog_snapshot, catalog_pages')
  await store.save(again)
  expect(await store.load()).toEqual(again)
})

it('keeps the newer of two lists that two nodes save at the same time', async () => {
  const stores = [createSnapshotStore(database), createSnapshotStore(database)]
  await Promise.all(stores.map((store, at) => store.save(snapshotOf(600, at + 1))))
  const days = [1, 2].map((day) => snapshotOf(600, day))
  expect(days).toContainEqual(await stores[0]?.load())
})

it('takes no list whose pages are not all there', async () => {
  const store = createSnapshotStore(database)
  await store.save(snapshotOf(600))
  await database.query('delete from catalog_pages where page = 1')
  await expect(store.load()).rejects.toThrow('no page 1')
})

it('passes over a list that another version wrote', async () => {
  const store = createSnapshotStore(database)
  await store.save(snapshotOf(5))
  await database.query('update catalog_snapshot set format = 0')
  expect(await store.load()).toBeUndefined()
})
