import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Pool } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { moveOn, openOnRecord } from '../../test/contract/checkout-store-nodes.ts'
import { asked, orderOnRecord } from '../../test/contract/order-store-nodes.ts'
import { closed, ended, payment } from '../../test/contract/sample-checkouts.ts'
import { fulfilled, wayTo } from '../../test/contract/sample-orders.ts'
import { copyOrder, endedLongAgo } from '../../test/harness/many-orders.ts'
import { type Archive, createArchive } from '../adapters/storage/archive.ts'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { createStoreRecord } from '../adapters/storage/store-record.ts'
import type { In, Order } from '../orders/order.ts'
import { createVault } from '../secrets/vault.ts'
import { readArchived, rowIn, withGoods } from './archive-files.ts'
import { archiveOrders } from './archive-work.ts'

const postgres = migratedPostgres()
let pool: Pool
let parent: string
let dir: string

beforeEach(async () => {
  pool = await postgres.open()
  parent = await mkdtemp(join(tmpdir(), 'kiosk402-archive-'))
  dir = join(parent, 'files')
})
afterEach(async () => {
  await pool.end()
  await rm(parent, { recursive: true })
})

const delivered = () => ({ ...fulfilled(asked()), settlement: 'FINAL' }) as const
const endedBefore = new Date('2026-03-01T00:00:00Z')
const placed = [new Date('2026-01-10T00:00:00Z'), new Date('2026-02-20T00:00:00Z')] as const

/** Orders that ended in January and in February, and as many of which none may move. */
async function fill(count: number): Promise<void> {
  const { id } = await orderOnRecord(createOrderStore(pool), delivered())
  await endedLongAgo(pool)
  await copyOrder(pool, id, count, placed)
}

const run = (archive: Archive = createArchive(pool), tell: (line: string) => void = () => {}) =>
  archiveOrders({ archive, dir, endedBefore, tell })

async function idsIn(table: string): Promise<string[]> {
  const { rows } = await pool.query(`select id from ${table} order by id`)
  return rows.map(({ id }) => id)
}

/**
 * The ids of all orders in the files. Each file must have its digest on record and be readable by its owner
 * alone.
 */
async function idsInFiles(): Promise<string[]> {
  const { rows } = await pool.query('select file, sha256, orders from archives')
  const ids: string[] = []
  for (const { file, sha256, orders } of rows) {
    const path = join(dir, file)
    const bytes = await readFile(path)
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const lines = gunzipSync(bytes).toString().trimEnd().split('\n')
    expect(lines).toHaveLength(orders)
    ids.push(...lines.map((line) => JSON.parse(line).order.id))
  }
  return ids.sort()
}

test('orders move to one file a month, with its digest on record', async () => {
  await fill(700)
  const before = await createStoreRecord(pool).ledger('x402')
  const told: string[] = []
  expect(await run(undefined, (line) => told.push(line))).toBe(700)
  expect((await readdir(dir)).map((name) => name.slice(0, 15))).toEqual([
    'orders-2026-01-',
    'orders-2026-02-',
  ])
  expect((await stat(dir)).mode & 0o777).toBe(0o700)
  expect(told).toHaveLength(2)
  expect(await idsIn('orders')).toHaveLength(1)
  expect(await idsInFiles()).toEqual(await idsIn('archived_orders'))
  expect(await createStoreRecord(pool).ledger('x402')).toEqual(before)
  expect(await run()).toBe(0)
})

/** An archive that fails at one of its calls, before or after carrying it out. */
function breaking(archive: Archive, at: number, when: 'before' | 'after'): Archive {
  let calls = 0
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1
    if (calls === at && when === 'before') throw new Error('broken off')
    const done = await work()
    if (calls === at) throw new Error('broken off')
    return done
  }
  return {
    ...archive,
    begin: (file) => step(() => archive.begin(file)),
    move: (file, lines) => step(() => archive.move(file, lines)),
    finish: (file) => step(() => archive.finish(file)),
  }
}

test('broken off at any point, it goes on where it was, and loses and doubles nothing', async () => {
  await fill(450)
  const all = await idsIn('orders')
  const before = await createStoreRecord(pool).ledger('x402')
  const points = [1, 2, 3, 2, 4, 1, 3].flatMap((at) => [
    [at, 'before'] as const,
    [at, 'after'] as const,
  ])
  let broken = 0
  for (const [at, when] of points) {
    const ended = await run(breaking(createArchive(pool), at, when)).catch(
      (error: Error) => error.message,
    )
    if (ended === 'broken off') broken += 1
    const there = [...(await idsIn('orders')), ...(await idsIn('archived_orders'))].sort()
    expect(there).toEqual(all)
    expect(await createStoreRecord(pool).ledger('x402')).toEqual(before)
  }
  await run()
  expect(broken).toBeGreaterThan(4)
  const archived = await idsIn('archived_orders')
  expect(archived).toHaveLength(450)
  const written = await idsInFiles()
  for (const id of archived) expect(written).toContain(id)
  expect(await createArchive(pool).unfinished()).toEqual([])
})

test('leaves no half of a file behind, on a disk that may be full of them', async () => {
  await fill(20)
  const archive = createArchive(pool)
  async function* lines(before: Date) {
    yield* archive.lines(before)
    throw new Error('broken off')
  }
  await expect(run({ ...archive, lines })).rejects.toThrow('broken off')
  expect(await readdir(dir)).toEqual([])
  expect(await run()).toBe(20)
})

test('nothing moves whose file is missing or was changed', async () => {
  await fill(20)
  await expect(run(breaking(createArchive(pool), 1, 'after'))).rejects.toThrow('broken off')
  const [file = ''] = await readdir(dir)
  const path = join(dir, file)
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(1))
  await expect(run()).rejects.toThrow('is not the file that was written')
  await rm(path)
  await expect(run()).rejects.toThrow('ENOENT')
  expect(await idsIn('orders')).toHaveLength(21)
  await writeFile(path, bytes)
  expect(await run()).toBe(20)
})

test('a checkout that became no order moves to a file of its own, and is shown from it', async () => {
  await fill(1)
  const records = () => ({ store: createCheckoutStore(pool), orders: createOrderStore(pool) })
  const open = await openOnRecord(records)
  const over = await moveOn(records, open, ended(open, [payment(1n)]))
  await moveOn(records, over, closed(over))
  await endedLongAgo(pool)
  const archive = createArchive(pool)
  const told: string[] = []
  const tell = (line: string) => told.push(line)
  expect(await archiveOrders({ archive, dir, endedBefore: new Date(), tell })).toBe(3)
  expect(told.map((line) => line.slice(0, 9)).sort()).toEqual([
    'checkouts',
    'orders-20',
    'orders-20',
  ])
  const shown = await readArchived(archive, dir, open.id)
  expect(rowIn(shown).id).toBe(open.id)
  expect(withGoods(createVault([Buffer.alloc(32)]), shown)).toMatchObject({ goods: null })
  expect(await idsIn('checkouts')).toEqual([])
})

test('an archived order is shown from its file, and never from another one', async () => {
  await fill(20)
  await run()
  const archive = createArchive(pool)
  const [id = ''] = await idsIn('archived_orders')
  const shown = await readArchived(archive, dir, id)
  expect(rowIn(shown).id).toBe(id)
  expect(shown).toMatchObject({ payment: expect.any(String), events: expect.any(Array) })
  await expect(readArchived(archive, dir, 'ord_1')).rejects.toThrow('no order is archived under')
  const { file } = (await archive.fileOf(id)) ?? { file: '' }
  const bytes = await readFile(join(dir, file))
  await writeFile(join(dir, file), bytes.subarray(1))
  await expect(readArchived(archive, dir, id)).rejects.toThrow('is not the file that was written')
})

test('purchases go on beside it', async () => {
  await fill(900)
  const stores = [createOrderStore(pool), createOrderStore(pool)]
  let isArchiving = true
  const buying = stores.map(async (store) => {
    const bought: Order[] = []
    while (isArchiving || bought.length < 5) bought.push(await orderOnRecord(store, delivered()))
    return bought
  })
  expect(await run()).toBe(900)
  isArchiving = false
  const bought = (await Promise.all(buying)).flat()
  expect(await idsIn('orders')).toHaveLength(bought.length + 1)
  expect(await createStoreRecord(pool).misbooked()).toEqual([])
  const [again] = bought
  const [first] = again ? wayTo(again) : []
  const opened = await createOrderStore(pool).open(first as In<'PAYMENT_PENDING'>, [])
  expect(opened.isNew).toBe(false)
})
