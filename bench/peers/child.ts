import { once } from 'node:events'
import { madeOffers, madeQueries } from '../search-load.ts'
import { others, self } from './engines.ts'
import { passOver, type Report, type Settings } from './pass.ts'

/**
 * One engine in a process of its own, so that it does not share garbage or compiled code with another. It
 * makes the offers, builds its index, runs all queries once, reports, and runs queries again on request.
 */
const [settings] = (await once(process, 'message')) as [Settings]
const contender = [self, ...others].find(({ name }) => name === settings.name)
if (contender === undefined) throw new Error(`There is no ${settings.name}`)
const engine = contender.make(settings.databaseUrl)
const offers = madeOffers(settings.offers)
const queries = madeQueries(offers, settings.queries)

process.on('disconnect', () => process.exit())
process.on('message', (count: number) => {
  passOver(engine, queries.slice(0, count)).then(
    ({ micros }) => process.send?.(micros),
    (error) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
process.send?.(await begin())

async function begin(): Promise<Report> {
  const before = memory()
  const at = performance.now()
  await engine.build(offers)
  const buildMs = performance.now() - at
  const first = await passOver(engine, queries, settings.firstPassMs)
  const after = memory()
  return {
    ...first,
    buildMs,
    residentMb: (after.rss - before.rss) / 1e6,
    heapMb: (after.heap - before.heap) / 1e6,
    outsideMb: await engine.outside?.(),
  }
}

/** Memory after a full garbage collection that returns free pages to the system; bytes. */
function memory() {
  for (let round = 0; round < 3; round += 1)
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}
