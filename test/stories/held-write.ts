import { randomInt } from 'node:crypto'
import pg from 'pg'
import { eventually } from './requests.ts'
import type { Store } from './store.ts'

/**
 * Holds a write of an order before it is carried out, so that a story can act at that moment.
 *
 * @param when which one, as the condition of a trigger on `old` and `new`
 */
export async function holdWrite(store: Store, when: string) {
  const lock = randomInt(1, 2_000_000_000)
  const holder = new pg.Client(store.databaseUrl)
  await holder.connect()
  await holder.query('select pg_advisory_lock($1)', [lock])
  await store.query(`create function hold_${lock}() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(${lock}); return new; end $$`)
  await store.query(`create trigger a_hold_${lock} before update on orders for each row
    when (${when}) execute function hold_${lock}()`)
  const waiting = () =>
    holder.query<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
      [lock],
    )
  return {
    /** Until somebody is about to make the write. */
    async reached(): Promise<void> {
      await eventually(waiting, ({ rows }) => rows.length > 0)
    },
    /** Undoes the write that is held, and lets everybody else's through from now on. */
    async undo(): Promise<void> {
      const { rows } = await waiting()
      for (const { pid } of rows) await holder.query('select pg_terminate_backend($1)', [pid])
      await eventually(waiting, ({ rows: left }) => left.length === 0)
      await holder.query(`drop trigger a_hold_${lock} on orders`)
      await holder.end()
    },
  }
}
