import { maxConsideredMs, type Reservation, type ReservationStore } from '../../orders/ports.ts'
import { type Database, prepared } from './database.ts'
import { inBatches } from './records.ts'

/** Records in the database which request each payment came with, so that all nodes agree. */
export function createReservationStore(database: Database): ReservationStore {
  return {
    async reserve(paymentKey, request, isSigned) {
      const values = [paymentKey, request, isSigned, maxConsideredMs]
      const { rows } = await database.query<Reservation>(reserveStatement(values))
      const [held] = rows
      if (held === undefined) throw new Error('The reservation gave no row')
      return held
    },

    async release(paymentKey, mark) {
      await database.query(releaseStatement([paymentKey, mark]))
    },

    async isConsidered(paymentKey) {
      const { rowCount } = await database.query(consideredStatement([paymentKey, maxConsideredMs]))
      return rowCount === 1
    },

    forget: (before, signal) => inBatches(database, forgetSql, [before], signal),
  }
}

/**
 * Commits without waiting for the disk (`synchronous_commit` off). Only a crash of the database at this moment loses
 * the row, and the order itself is opened with that wait.
 */
const reserveStatement = prepared(
  'reserve_payment',
  `
  with unhurried as (select set_config('synchronous_commit', 'off', true))
  insert into payment_reservations as held (payment_key, request, signed, reserved_at, under_way)
  select $1::text, $2::text, $3::boolean, now(), array[clock_timestamp()] from unhurried
  on conflict (payment_key) do update set
    request = case when excluded.signed and not held.signed then excluded.request
      else held.request end,
    signed = held.signed or excluded.signed,
    -- By the clock, and not by the start of the statement: the row is locked here, so no two are equal.
    under_way = case
      when held.request = excluded.request or excluded.signed and not held.signed then
        array(select mark from unnest(held.under_way) mark
          where mark > now() - $4::integer * interval '1 ms') || clock_timestamp()
      else held.under_way end
  returning request,
    case when request = $2 then under_way[cardinality(under_way)]::text end as mark`,
)

const releaseStatement = prepared(
  'release_payment',
  `update payment_reservations set under_way = array_remove(under_way, $2::timestamptz)
   where payment_key = $1`,
)

const consideredStatement = prepared(
  'payment_considered',
  `select 1 from payment_reservations
   where payment_key = $1 and exists (
     select from unnest(under_way) mark where mark > now() - $2::integer * interval '1 ms')`,
)

const forgetSql = `
  delete from payment_reservations where payment_key in (
    select payment_key from payment_reservations where reserved_at < $1 limit $2
  )`
