import { fronts, noOpenssl } from '../../test/harness/deployed.ts'
import { noRedis } from '../../test/harness/redis.ts'
import { noServer } from '../../test/harness/server.ts'
import { noDebianPostgres } from './database.ts'
import { rehearse } from './day.ts'
import { startParts } from './parts.ts'

const usage = `Rehearses a day of a store on this machine, behind a proxy:

  npm run rehearse -- nginx|caddy [ORDERS]

ORDERS is the least number of orders that the crowd buys (200). Needs Debian's PostgreSQL, Redis, openssl and
proxy. Exits with 0 on success, 1 after a failure, 2 if it could not begin.`

const [name = 'nginx', orders = '200'] = process.argv.slice(2)
process.exitCode = await main()

async function main(): Promise<number> {
  const front = fronts.find((one) => one.name === name)
  if (front === undefined || !/^[1-9]\d{0,4}$/.test(orders)) {
    console.error(usage)
    return 2
  }
  // Each of them has already printed what is missing.
  if (noServer(front) ?? noOpenssl ?? noRedis ?? noDebianPostgres) return 2
  const startedAt = performance.now()
  const tell = (line: string) => {
    const seconds = (performance.now() - startedAt) / 1_000
    console.log(`${seconds.toFixed(0).padStart(4)} s  ${line}`)
  }
  const parts = await startParts(front)
  try {
    await rehearse(parts, { orders: Number(orders), tell })
    return 0
  } catch (error) {
    console.error(error)
    return 1
  } finally {
    await parts.stop()
  }
}
