import { fronts, noOpenssl } from '../../test/harness/deployed.ts'
import { noRedis } from '../../test/harness/redis.ts'
import { noServer } from '../../test/harness/server.ts'
import { noDebianPostgres } from './database.ts'
import { type Figures, rehearse } from './day.ts'
import { startParts } from './parts.ts'

const usage = `Rehearses a day of a store on this machine, behind a proxy:

  npm run rehearse -- nginx|caddy [ORDERS]

ORDERS are how many a crowd buys at least; 200 otherwise. It needs PostgreSQL, Redis, openssl and the
proxy as Debian has them. Ends with 0 when all went well, 1 when something did not, 2 when it could not begin.`

process.exitCode = await main(process.argv.slice(2))

async function main([name = 'nginx', orders = '200']: readonly string[]): Promise<number> {
  const front = fronts.find((one) => one.name === name)
  if (front === undefined || !/^[1-9]\d{0,4}$/.test(orders)) {
    console.error(usage)
    return 2
  }
  // Each has said by itself what is missing.
  if (noServer(front) ?? noOpenssl ?? noRedis ?? noDebianPostgres) return 2
  const startedAt = performance.now()
  const tell = (line: string) => {
    const seconds = (performance.now() - startedAt) / 1_000
    console.log(`${seconds.toFixed(0).padStart(4)} s  ${line}`)
  }
  const parts = await startParts(front)
  try {
    for (const line of linesOf(await rehearse(parts, { orders: Number(orders), tell }))) tell(line)
    return 0
  } catch (error) {
    console.error(error)
    return 1
  } finally {
    await parts.stop()
  }
}

function linesOf({ memory, disk, wal }: Figures): readonly string[] {
  const [before, after] = memory.map((nodes) =>
    nodes.map((bytes) => `${Math.round(bytes / 2 ** 20)} MB`).join(' and '),
  )
  const per1000 = (bytes: number) => `${((bytes * 1_000) / 1e6).toFixed(1)} MB`
  return [
    `memory of the nodes: ${before} before the crowd came, ${after} after it`,
    `1,000 orders take ${per1000(disk)} on disk and write ${per1000(wal)} of WAL`,
  ]
}
