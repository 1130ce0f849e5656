import type { Hex } from 'viem'
import { chainClient } from '../sandbox/chain/rpc.ts'
import { usdcAbi } from '../test/stories/chain.ts'
import { contentsOf } from '../test/stories/reading.ts'
import { eventually } from '../test/stories/requests.ts'
import { readArguments } from './arguments.ts'
import { openSource } from './material.ts'
import { maxGrowth, trendOf } from './memory.ts'
import { type Memory, type Parts, startParts } from './parts.ts'
import { type Findings, run, type Target } from './run.ts'

/** How many times a run measures memory. */
const steps = 24
const atOnce = 48

/**
 * Sends a store inputs made from a seed, judges every answer, and prints a report.
 *
 *   npm run fuzz -- --inputs 1000000 --seed 1
 *   npm run fuzz -- --seed 1 --only 4711        one input again, by its number
 */
async function main(): Promise<void> {
  const { inputs, seed, only } = readArguments(process.argv.slice(2))
  const parts = await startParts()
  try {
    const source = await openSource({ ...parts, seed })
    const secrets = [...parts.secrets, ...source.secrets]
    parts.watchFor([...source.secrets, ...source.person])
    const { port } = new URL(parts.url)
    const address = { host: '127.0.0.1', port: Number(port) }
    const target = { address, secrets, material: source.material }
    const isGood =
      only === undefined
        ? await runAll(parts, target, { inputs, seed })
        : await runOnly(parts, target, { seed, only })
    process.exitCode = isGood ? 0 : 1
  } finally {
    await parts.stop()
  }
}

async function runOnly(
  parts: Parts,
  target: Target,
  { seed, only }: { readonly seed: number; readonly only: number },
): Promise<boolean> {
  const found = await run(target, { seed, from: only, to: only + 1, atOnce: 1 })
  printFailures(found, seed)
  for (const line of parts.badLines) console.log(`log: ${line.trim()}`)
  console.log([...found.answers].map(([name, by]) => `${name}: ${[...by.keys()]}`).join())
  return found.failures.length === 0 && parts.badLines.length === 0
}

async function runAll(
  parts: Parts,
  target: Target,
  { inputs, seed }: { readonly inputs: number; readonly seed: number },
): Promise<boolean> {
  await untilSettled(parts)
  const before = await effectsOf(parts)
  const startedAt = performance.now()
  const memory: Memory[] = [await parts.memory()]
  const found: Findings[] = []
  for (let step = 0; step < steps; step += 1) {
    const [from, to] = [step, step + 1].map((at) => Math.round((inputs * at) / steps))
    found.push(await run(target, { seed, from: from ?? 0, to: to ?? 0, atOnce }))
    const now = await parts.memory()
    memory.push(now)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    console.log(`${to} inputs, ${seconds} s, heap ${mib(now.heapBytes)}, rss ${mib(now.rssBytes)}`)
    if (found.some(({ failures }) => failures.length > 0)) break
  }
  const after = await effectsOf(parts)
  const seconds = (performance.now() - startedAt) / 1_000
  return report({ found, memory, before, after, seconds, parts, inputs, seed })
}

/** Waits until the payment of the order in the material is final, which writes to its record once more. */
async function untilSettled({ query }: Parts): Promise<void> {
  const open = `select from orders where settlement <> 'FINAL'`
  await eventually(
    () => query(open),
    (rows) => rows.length === 0,
  )
}

/** The contents of each table, and the number of transfers, which inputs without a payment must not change. */
async function effectsOf(parts: Parts): Promise<string> {
  const transfers = await chainClient(parts.chain.rpcUrl).getContractEvents({
    address: parts.chain.usdc as Hex,
    abi: usdcAbi,
    eventName: 'Transfer',
    fromBlock: 0n,
  })
  return JSON.stringify({ contents: await contentsOf(parts), transfers: transfers.length })
}

interface Report {
  readonly found: readonly Findings[]
  readonly memory: readonly Memory[]
  readonly before: string
  readonly after: string
  readonly seconds: number
  readonly parts: Parts
  readonly inputs: number
  readonly seed: number
}

function report(of: Report): boolean {
  const { found, before, after, parts, seed } = of
  const trend = trendOf(of.memory)
  for (const findings of found) printFailures(findings, seed)
  for (const line of parts.badLines.slice(0, 20)) console.log(`log: ${line.trim()}`)
  const statuses = statusesOf(found)
  const sent = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  const raw = found.reduce((sum, one) => sum + one.raw, 0)
  const failures = found.reduce((sum, one) => sum + one.failures.length, 0)
  console.log(`
inputs            ${sent} with the seed ${seed}, all over TCP; ${raw} of them no whole request
answers           ${[...statuses].map(([status, count]) => `${status || 'closed'}: ${count}`).join(', ')}
failures          ${failures}
bad log lines     ${parts.badLines.length}
slowest answer    ${Math.round(Math.max(...found.map((one) => one.slowestMs)))} ms
time              ${Math.round(of.seconds)} s, ${Math.round(sent / of.seconds)} inputs a second
tables, transfers ${before === after ? 'unchanged' : `${before} became ${after}`}
heap growth       ${trend.heapGrowth.toFixed(1)} MiB after warm-up, at most ${maxGrowth.heap}
rss growth        ${trend.rssGrowth.toFixed(1)} MiB after warm-up, at most ${maxGrowth.rss}`)
  const isWhole = failures === 0 && sent === of.inputs
  return isWhole && parts.badLines.length === 0 && before === after && trend.isFlat
}

function statusesOf(found: readonly Findings[]): Map<number, number> {
  const all = new Map<number, number>()
  for (const { answers } of found) {
    for (const [status, count] of [...answers.values()].flatMap((one) => [...one])) {
      all.set(status, (all.get(status) ?? 0) + count)
    }
  }
  return new Map([...all].sort(([one], [next]) => one - next))
}

function printFailures({ failures }: Findings, seed: number): void {
  for (const { number, name, problem, sent } of failures) {
    console.log(`\ninput ${number} of the seed ${seed} (${name}): ${problem}`)
    console.log(`  sent ${sent.slice(0, 1_500)}`)
    console.log(`  again: npm run fuzz -- --seed ${seed} --only ${number}`)
  }
}

function mib(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`
}

await main()
