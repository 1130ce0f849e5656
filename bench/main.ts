import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { measureBacklog } from './backlog.ts'
import { measureClaims } from './claims.ts'
import { type Figure, notes, table } from './figures.ts'
import { measurePurchase } from './purchase.ts'
import { measureSearch } from './search.ts'
import { measureIndex } from './search-index.ts'
import { measureStart } from './start.ts'
import { measureSweep } from './sweep.ts'

/** Measures what the store promises about speed, prints it, and writes docs/benchmarks.md. */
async function main(): Promise<void> {
  const figures: Figure[] = []
  for (const [what, measure] of [
    ['starting and stopping', measureStart],
    ['searching', () => measureSearch(12_000)],
    ['searching catalogs of several sizes', () => measureIndex([2_000, 20_000, 200_000])],
    ['buying', measurePurchase],
    ['claiming payments', measureClaims],
    ['finishing what was left', measureSweep],
    ['buying beside a backlog', measureBacklog],
  ] as const) {
    console.log(`Measuring ${what} …`)
    figures.push(...(await measure()))
  }
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`
  const text = `# Benchmarks\n\nWritten by \`npm run bench\`. Machine: ${machine}.\n\n${table(figures)}\n\n## How to read them\n\n${notes(figures)}\n`
  await writeFile('docs/benchmarks.md', text)
  console.log(`\n${text}`)
}

await main()
