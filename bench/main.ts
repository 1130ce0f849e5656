import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { wholeNumber } from '../test/harness/arguments.ts'
import { measureBacklog } from './backlog.ts'
import { measureClaims } from './claims.ts'
import type { Figures } from './figures.ts'
import { measureHttp } from './http.ts'
import { machine } from './machine.ts'
import { measureMemory } from './memory.ts'
import { measureOrders } from './orders.ts'
import { type Part, pageOf, partOf } from './page.ts'
import { measurePages } from './pages.ts'
import { measurePeers } from './peers/compare.ts'
import { measurePurchase } from './purchase.ts'
import { compareWith, summaryOf } from './regressions.ts'
import { measureReload } from './reload.ts'
import { measureSearch } from './search.ts'
import { measureIndex } from './search-index.ts'
import { measureStart } from './start.ts'
import { measureSweep } from './sweep.ts'
import { measureThroughput } from './throughput.ts'
import { measureVisitors } from './visitors.ts'

type Measure = () => Figures | Promise<Figures>

interface Section {
  /** Its name on the command line: `npm run bench -- search`. */
  readonly name: string
  readonly title: string
  readonly measure: Measure
}

/** Fewer orders make a run shorter: `BENCH_ORDERS=100000 npm run bench -- orders`. */
const manyOrders = wholeNumber('BENCH_ORDERS', process.env['BENCH_ORDERS'] ?? '2000000', {
  least: 1_000,
  most: 100_000_000,
})

const sections: readonly Section[] = [
  { name: 'start', title: 'Starting and stopping', measure: measureStart },
  { name: 'memory', title: 'Memory', measure: measureMemory },
  { name: 'search', title: 'Search in process', measure: () => measureSearch(12_000) },
  { name: 'index', title: 'Search by size', measure: () => measureIndex([2_000, 20_000, 200_000]) },
  { name: 'reload', title: 'Reloading under load', measure: measureReload },
  { name: 'http', title: 'Search over HTTP', measure: measureHttp },
  { name: 'visitors', title: 'Beside one busy visitor', measure: measureVisitors },
  { name: 'peers', title: 'Search beside others', measure: () => measurePeers(200_000) },
  { name: 'pages', title: 'Pages for people', measure: measurePages },
  { name: 'buying', title: 'Buying', measure: measurePurchase },
  { name: 'throughput', title: 'Purchases a second', measure: measureThroughput },
  { name: 'claims', title: 'Claiming payments', measure: measureClaims },
  { name: 'sweep', title: 'Finishing what was left', measure: measureSweep },
  { name: 'backlog', title: 'Buying beside a backlog', measure: measureBacklog },
  { name: 'orders', title: 'Among many orders', measure: () => measureOrders(manyOrders) },
]

/**
 * Measures the speed of the store, prints the figures, and writes docs/contributors/benchmarks.md. If only
 * some sections are named, it prints them and does not change the page, because a page is of one run.
 *
 * @throws when a name is not the name of a section
 */
async function main(names: readonly string[]): Promise<void> {
  const last = await lastPage()
  const parts: Part[] = []
  for (const { title, measure } of chosen(names)) {
    console.log(`Measuring: ${title} …`)
    const part = { title, figures: compareWith(last, await measured(title, measure)) }
    console.log(`\n${partOf(part)}`)
    parts.push(part)
  }
  if (names.length === 0)
    await writeFile('docs/contributors/benchmarks.md', pageOf(await machine(), parts))
  console.log(summaryOf(parts.flatMap(({ figures }) => figures)))
}

/** A section that fails is reported on the page and makes the exit code 1; the other sections still run. */
async function measured(title: string, measure: Measure): Promise<Figures> {
  try {
    return await measure()
  } catch (error) {
    console.error(error)
    process.exitCode = 1
    return [{ what: title, value: 'failed', note: 'What happened is in the output of the run.' }]
  }
}

function chosen(names: readonly string[]): readonly Section[] {
  const known = sections.map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Error(`No section ${unknown.join(', ')}; there are ${known.join(', ')}`)
  return names.length === 0 ? sections : sections.filter(({ name }) => names.includes(name))
}

/** The page of the last commit; undefined without such a page or without a Git history. */
async function lastPage(): Promise<string | undefined> {
  const shown = promisify(execFile)('git', ['show', 'HEAD:docs/contributors/benchmarks.md'])
  return shown.then(
    ({ stdout }) => stdout,
    () => undefined,
  )
}

await main(process.argv.slice(2))
