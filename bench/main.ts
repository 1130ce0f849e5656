import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { wholeNumber } from '../test/harness/arguments.ts'
import { measureHttp } from './http.ts'
import { measureInstall } from './install.ts'
import { measureOrders } from './orders.ts'
import { measurePurchases } from './purchases.ts'
import { measureSearch } from './search.ts'
import { measureStart } from './start.ts'
import { type Figure, machine, tableOf } from './table.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    /** Fewer orders make a run shorter. */
    orders: { type: 'string', default: '2000000' },
    write: { type: 'boolean', default: false },
  },
})
const orders = wholeNumber('--orders', values.orders, { least: 1_000, most: 100_000_000 })

const sections: Readonly<Record<string, () => Promise<Figure[]>>> = {
  start: measureStart,
  search: measureSearch,
  http: measureHttp,
  purchases: measurePurchases,
  orders: () => measureOrders(orders),
  install: measureInstall,
}
const page = 'docs/contributors/benchmarks.md'

/** A section that fails makes the exit code 1; the others still run. */
async function measured(name: string, measure: () => Promise<Figure[]>): Promise<Figure[]> {
  try {
    return await measure()
  } catch (error) {
    console.error(error)
    process.exitCode = 1
    return [{ what: name, value: 'failed' }]
  }
}

const { only } = values
if (only !== undefined && !(only in sections))
  throw new Error(`There is no section ${only}, only ${Object.keys(sections).join(', ')}.`)
const parts: string[] = []
for (const [name, measure] of Object.entries(sections)) {
  if (only !== undefined && name !== only) continue
  const part = `## ${name}\n\n${tableOf(await measured(name, measure))}\n`
  console.log(`\n${part}`)
  parts.push(part)
}
if (values.write && only === undefined && process.exitCode !== 1) {
  const head = `# Benchmarks\n\nWritten by \`npm run bench -- --write\` on ${machine()}.`
  await writeFile(page, [head, ...parts].join('\n\n'))
}
