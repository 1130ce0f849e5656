import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { wholeNumber } from '../test/harness/arguments.ts'
import { measureHttp } from './http.ts'
import { measureInstall } from './install.ts'
import { measureOrders } from './orders.ts'
import { measurePurchases } from './purchases.ts'
import { measureSearch } from './search.ts'
import { measureStart } from './start.ts'
import { type Figure, tableOf } from './table.ts'

/** Prints a Markdown page with the figures of all sections, or of one. Fewer orders make a run shorter. */
const { values } = parseArgs({
  options: { only: { type: 'string' }, orders: { type: 'string', default: '2000000' } },
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
const names = Object.keys(sections)
const chosen = names.filter((name) => values.only === undefined || values.only === name)
if (chosen.length === 0)
  throw new Error(`There is no section ${values.only}, only ${names.join(', ')}.`)

const today = new Date().toISOString().slice(0, 10)
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`
console.log(`# Benchmarks\n\nMeasured by \`npm run bench\` on ${machine}, ${today}.`)
for (const name of chosen)
  console.log(`\n## ${name}\n\n${tableOf((await sections[name]?.()) ?? [])}`)
