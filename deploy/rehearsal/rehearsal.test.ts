import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fronts, noOpenssl } from '../../test/harness/deployed.ts'
import { noRedis } from '../../test/harness/redis.ts'
import { noServer } from '../../test/harness/server.ts'
import { noDebianPostgres } from './database.ts'
import { rehearse } from './day.ts'
import { startParts } from './parts.ts'
import { earlierRelease, hasNoHistory } from './releases.ts'

describe.concurrent.each(fronts)('behind $name', (front) => {
  const why = noServer(front) ?? noOpenssl ?? noRedis ?? noDebianPostgres

  test.skipIf(why)(
    'a day in rehearsal sells, fails, pays back, is upgraded, loses its database and ends with books that agree',
    { timeout: 3_600_000 },
    async ({ onTestFinished }) => {
      const parts = await startParts(front)
      // Also when the test took too long, which no `finally` would notice.
      onTestFinished(parts.stop)
      const told: string[] = []
      const from = hasNoHistory ? undefined : await earlierRelease(join(parts.dir, 'earlier'))
      const tell = (line: string) => told.push(line)
      const figures = await rehearse(parts, { orders: 40, from, tell })
      expect(told.join('\n')).toMatch(
        /in USDC: TEST-TOPUP-FAIL REFUNDED.*in LTC: TEST-TOPUP-FAIL REFUNDED.*with a new key.*reconcile ended with 0/s,
      )
      const upgrades = told.filter((line) => line.includes('upgraded'))
      expect(upgrades).toHaveLength(hasNoHistory ? 0 : 2)
      // How soon it is where nothing else runs is in docs/operators/rehearsal.md.
      for (const ms of figures.unreadyMs) expect(ms).toBeLessThan(30_000)
      // A crowd that leaves nothing in the database was none.
      expect(Math.min(figures.disk, figures.wal)).toBeGreaterThan(0)
    },
  )
})
