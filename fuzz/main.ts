import { parseArgs } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { wholeNumber } from '../test/harness/arguments.ts'
import { type Input, inputs, type Surface } from './inputs.ts'
import { type FuzzedStore, startStore } from './store.ts'
import { createSender, type Target, tryInput } from './trial.ts'

/*
 * Sends a store of 12,000 offers requests to every route and tool, from good ones to nonsense:
 *
 *   npm run fuzz -- --inputs 200000 --seed 1
 *
 * No answer may have a status of 500 or more, insides or a secret; no input may take more than 20 ms of the
 * main thread; nothing may be ordered. The first input that breaks this is shrunk and printed; --path sends it
 * again. Exit code 1 if there is one.
 */
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    path: { type: 'string' },
  },
})
const numRuns = wholeNumber('--inputs', values.inputs, { least: 1, most: 1_000_000_000 })
const seed = wholeNumber('--seed', values.seed, { least: 0, most: 2 ** 31 })
/** A process that has just started compiles what it runs for the first time. */
const warmUps = 1_500

const store = await startStore()
try {
  process.exitCode = await fuzz(store)
} finally {
  await store.stop()
}

async function fuzz(fuzzed: FuzzedStore): Promise<number> {
  const { prepare, close } = createSender(fuzzed)
  const target: Target = { ...fuzzed, prepare }
  const input = inputs({ routes: fuzzed.routes, tools: await toolsOf(fuzzed) })
  for (const one of fc.sample(input, { numRuns: warmUps, seed: 0 })) await tryInput(target, one)
  const answers = new Map<number, number>()
  let longestMs = 0
  const isGood = fc.asyncProperty(input, async (one) => {
    const { status, threadMs, fault } = await tryInput(target, one)
    answers.set(status, (answers.get(status) ?? 0) + 1)
    longestMs = Math.max(longestMs, threadMs)
    if (fault !== undefined) throw new Error(fault)
  })
  const run = await fc.check(isGood, { numRuns, seed, ...(values.path && { path: values.path }) })
  close()
  const byStatus = [...answers].sort().map(([status, count]) => `${status}: ${count}`)
  const orders = await fuzzed.countOrders()
  console.log(`inputs    ${run.numRuns} with seed ${seed}
answers   ${byStatus.join(', ')}
longest   ${longestMs.toFixed(1)} ms of the main thread
orders    ${orders}
faults    ${run.failed ? `1\n${faultIn(run)}` : 0}`)
  return run.failed || orders > 0 ? 1 : 0
}

function faultIn({ errorInstance, counterexample, counterexamplePath }: fc.RunDetails<[Input]>) {
  const fault = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  const input = JSON.stringify(counterexample?.[0], null, 2).slice(0, 4_000)
  const [first] = counterexamplePath?.split(':') ?? []
  return `\n${fault}\n${input}\nagain: npm run fuzz -- --seed ${seed} --path ${first}`
}

async function toolsOf({ url }: FuzzedStore): Promise<Surface['tools']> {
  const client = new Client({ name: 'fuzz', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)))
  const { tools } = await client.listTools()
  await client.close()
  return tools as Surface['tools']
}
