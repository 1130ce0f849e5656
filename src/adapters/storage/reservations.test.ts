import { describeReservations } from '../../../test/contract/reservations.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createReservationStore } from './reservations.ts'

const postgres = migratedPostgres()

describeReservations('PostgreSQL', async () => {
  const pools = await postgres.openForTwo()
  return {
    store: createReservationStore(pools[0]),
    other: createReservationStore(pools[1]),
    async now() {
      const { rows } = await pools[1].query<{ now: Date }>('select now()')
      return rows[0]?.now ?? new Date(Number.NaN)
    },
    async pass(ms) {
      const earlier = `- ${ms} * interval '1 ms'`
      await pools[0].query(`update payment_reservations
        set reserved_at = reserved_at ${earlier},
          under_way = array(select mark ${earlier} from unnest(under_way) mark)`)
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
})
