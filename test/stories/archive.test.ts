import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createArchive } from '../../src/adapters/storage/archive.ts'
import { openDatabase } from '../../src/adapters/storage/database.ts'
import { archiveOrders } from '../../src/commands/archive-work.ts'
import { endedLongAgo } from '../harness/many-orders.ts'
import { newBuyer } from './buyer.ts'
import { openBooks } from './reconciling.ts'
import { bodyFor, buy, get, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

let store: Store
let dir: string

beforeAll(async () => {
  store = await openStore({ env: { TRUSTED_PROXIES: '1' } })
  dir = await mkdtemp(join(tmpdir(), 'kiosk402-archive-'))
})
afterAll(async () => {
  await store.close()
  await rm(dir, { recursive: true })
})

/** Archives everything, as if all that has ended had ended a hundred days ago. */
async function archiveAll(): Promise<number> {
  const database = openDatabase(store.databaseUrl, {
    applicationName: 'test',
    poolSize: 2,
    onError: () => undefined,
  })
  try {
    await database.query(`delete from idempotency_keys`)
    await endedLongAgo(database)
    const endedBefore = new Date()
    const archive = createArchive(database)
    return await archiveOrders({ archive, dir, endedBefore, tell: () => undefined })
  } finally {
    await database.end()
  }
}

/** Lets the minute pass after which the payment of a delivered order is taken for final. */
async function settled(): Promise<void> {
  await store.query(`begin;
    set local session_replication_role = replica;
    update orders set version = version + 1, settlement = 'FINAL', doc = doc || '{"settlement": "FINAL"}',
      finished_at = now(), due_at = null where state = 'FULFILLED';
    commit`)
}

test('orders that were archived say so, their payments buy nothing again, and all books agree', async () => {
  const buyer = await newBuyer()
  const delivered = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  expect(delivered.answer.status).toBe(200)
  const failed = await buy(store, buyer, 'topup', bodyFor('topup', 'FAIL'))
  const { orderId } = failed.answer.body
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  await settled()
  const books = await openBooks(store.settings)
  try {
    const before = await books.reconcile()
    expect(before.differences).toEqual([])
    const balance = await buyer.balance()

    expect(await archiveAll()).toBe(2)

    const { differences, totals, lost } = await books.reconcile()
    expect(differences).toEqual([])
    expect(totals).toEqual(before.totals)
    expect([lost, await books.rebuild()]).toEqual([[], []])

    const path = `/api/catalog/orders/${delivered.answer.body.orderId}`
    const gone = await get(store.url, path)
    expect(gone).toMatchObject({ status: 404, body: { code: 'order_not_found' } })
    expect(gone.body.detail).toContain('archived')
    const page = await get(store.url, `/orders/${orderId}`, { accept: 'text/html' })
    expect(page.status).toBe(404)
    expect(page.body).toContain('archived')

    const again = await delivered.send()
    expect(again).toMatchObject({ status: 409, body: { code: 'payment_reused', charged: 'yes' } })
    expect(await buyer.balance()).toBe(balance)

    const next = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    expect(next.answer.status).toBe(200)
    expect((await books.reconcile()).differences).toEqual([])
  } finally {
    await books.close()
  }
})
