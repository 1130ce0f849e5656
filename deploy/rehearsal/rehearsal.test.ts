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
    'a day in rehearsal sells, fails, pays back, changes its key, loses its database and ends with books that agree',
    { timeout: 3_600_000 },
    async ({ onTestFinished }) => {
      const parts = await startParts(front)
      // Also when the test took too long, which no `finally` would notice.
      onTestFinished(parts.stop)
      const told: string[] = []
      await rehearse(parts, { orders: 40, tell: (line) => told.push(line) })
      expect(told.join('\n')).toMatch(
        /in USDC: TEST-TOPUP-FAIL REFUNDED.*in LTC: TEST-TOPUP-FAIL REFUNDED.*with a new key.*reconcile ended with 0/s,
      )
    },
  )
})
