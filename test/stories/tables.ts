import type { Pool } from 'pg'
import { openDatabase } from '../../src/adapters/storage/database.ts'
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
