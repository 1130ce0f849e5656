import type { Pool } from 'pg'
import { createArchive } from '../../src/adapters/storage/archive.ts'
import { openDatabase } from '../../src/adapters/storage/database.ts'
import { archiveOrders } from '../../src/commands/archive-work.ts'
import { endedLongAgo } from '../harness/many-orders.ts'
import type { Store } from './store.ts'

/** What an operator's command does with the tables of a store. */
export async function inTables<T>(
  { databaseUrl }: Pick<Store, 'databaseUrl'>,
  work: (database: Pool) => Promise<T>,
): Promise<T> {
  const options = { applicationName: 'test', poolSize: 2, onError: () => undefined }
  const database = openDatabase(databaseUrl, options)
  return work(database).finally(() => database.end())
}

/** Lets the minute pass after which the payment of a delivered order is taken for final. */
export async function settled(store: Pick<Store, 'query'>): Promise<void> {
  await store.query(`begin;
    set local session_replication_role = replica;
    update orders set version = version + 1, settlement = 'FINAL', doc = doc || '{"settlement": "FINAL"}',
      finished_at = now(), due_at = null where state = 'FULFILLED';
    commit`)
}

/** Archives everything, as if all that has ended had ended a hundred days ago. */
export function archiveAll(store: Pick<Store, 'databaseUrl'>, dir: string): Promise<number> {
  return inTables(store, async (database) => {
    await database.query(`delete from idempotency_keys`)
    await endedLongAgo(database)
    const endedBefore = new Date()
    const archive = createArchive(database)
    return archiveOrders({ archive, dir, endedBefore, tell: () => undefined })
  })
}
