import { describe, expect, test } from 'vitest'
import { fronts, noOpenssl } from '../../test/harness/deployed.ts'
import { noRedis } from '../../test/harness/redis.ts'
import { noServer } from '../../test/harness/server.ts'
import { noDebianPostgres } from './database.ts'
import { rehearse } from './day.ts'
import { startParts } from './parts.ts'

describe.concurrent.each(fronts)('behind $name', (front) => {
  const why = noServer(front) ?? noOpenssl ?? noRedis ?? noDebianPostgres

  test.skipIf(why)(
    'a day in rehearsal sells, fails, pays back, restarts, loses its database and ends with books that agree',
    { timeout: 600_000 },
    async () => {
      const parts = await startParts(front)
      try {
        const told: string[] = []
        const figures = await rehearse(parts, { orders: 40, tell: (line) => told.push(line) })
        expect(told.join('\n')).toMatch(
          /TEST-TOPUP-FAIL REFUNDED.*bought in BTC.*reconcile ended with 0/s,
        )
        for (const ms of figures.unreadyMs) expect(ms).toBeLessThan(3_000)
        // A crowd that leaves nothing in the database was none.
        expect(Math.min(figures.disk, figures.wal)).toBeGreaterThan(0)
      } finally {
        await parts.stop()
      }
    },
  )
})
