import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pack from '../../package.json' with { type: 'json' }
import { fronts, noOpenssl } from '../../test/harness/deployed.ts'
import { noRedis } from '../../test/harness/redis.ts'
import { noServer } from '../../test/harness/server.ts'
import { noDebianPostgres } from './database.ts'
import { type Figures, rehearse } from './day.ts'
import { startParts } from './parts.ts'

const usage = `Rehearses a day of a store on this machine, behind a proxy:

  npm run rehearse -- nginx|caddy [ORDERS] [--from FOLDER]

ORDERS is the least number of orders that the crowd buys (200). FOLDER contains an earlier version with its
packages: the nodes start with it and are upgraded. Without FOLDER nothing is upgraded. Needs Debian's
PostgreSQL, Redis, openssl and proxy. Exits with 0 on success, 1 after a failure, 2 if it could not begin.`

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const { name, orders, from } = readArguments(args)
  const front = fronts.find((one) => one.name === name)
  if (front === undefined || !/^[1-9]\d{0,4}$/.test(orders)) {
    console.error(usage)
    return 2
  }
  const wrong = from === undefined ? undefined : noUpgradeFrom(from)
  if (wrong !== undefined) {
    console.error(wrong)
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
    for (const line of linesOf(await rehearse(parts, { orders: Number(orders), from, tell })))
      tell(line)
    return 0
  } catch (error) {
    console.error(error)
    return 1
  } finally {
    await parts.stop()
  }
}

/** The reason why this folder cannot be upgraded. The version tells nodes apart, so it must differ. */
function noUpgradeFrom(folder: string): string | undefined {
  try {
    const theirs = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
    return theirs === pack.version
      ? `${folder} has version ${theirs}, the same as this one`
      : undefined
  } catch {
    return `${folder} does not contain an earlier version`
  }
}

function readArguments(args: readonly string[]) {
  const options = { from: { type: 'string' } } as const
  try {
    const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [name = 'nginx', orders = '200'] = positionals
    return { name, orders, from: values.from }
  } catch {
    // No proxy has an empty name, so the usage is printed.
    return { name: '', orders: '', from: undefined }
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
