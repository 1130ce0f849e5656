import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildStore, newDataDir, startChildStore } from '../test/child-store.ts'
import { waitOf } from './http.ts'
import { metricOf } from './metrics.ts'
import { type Figure, figure } from './table.ts'

const sizes = [12_000, 200_000]
const reloadWithinMs = 300_000
/** Long enough to collect the garbage of reading a catalog. */
const settleMs = 3_000

/**
 * The resident memory of a store's process after its first start, and after a second one with a catalog on
 * record, which it serves while it reads the supplier's list and then replaces it, as every reload does.
 * Meanwhile a request comes every few milliseconds.
 */
export async function measureMemory(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of sizes) {
    const dataDir = await newDataDir()
    const first = await runStore(dataDir, size, async () => 0)
    const again = await runStore(dataDir, size, untilReloaded)
    await rm(dataDir, { recursive: true, force: true })
    const offers = `${size.toLocaleString('en-US')} offers`
    const bar = { most: 400 }
    figures.push(
      figure(`Memory after the first start, ${offers}`, first.megabytes, 'MB', bar),
      figure(`Memory after a warm start and a reload, ${offers}`, again.megabytes, 'MB', bar),
      figure(`Longest wait of a request during the reload, ${offers}`, again.longestMs, 'ms'),
    )
  }
  return figures
}

async function runStore(
  dataDir: string,
  offers: number,
  work: (store: ChildStore, startedAt: number) => Promise<number>,
) {
  const startedAt = Date.now()
  const store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: String(offers) } })
  try {
    const longestMs = await work(store, startedAt)
    await delay(settleMs)
    const bytes = await metricOf(store, 'process_resident_memory_bytes')
    return { megabytes: bytes / 2 ** 20, longestMs }
  } finally {
    await store.stop()
  }
}

/** Asks until the store serves a list that it read after `startedAt`. Returns the longest wait. */
async function untilReloaded(store: ChildStore, startedAt: number): Promise<number> {
  const until = performance.now() + reloadWithinMs
  let longestMs = 0
  while (performance.now() < until) {
    for (let at = 0; at < 20; at += 1) {
      longestMs = Math.max(longestMs, await waitOf(store.port))
      await delay(5)
    }
    const age = await metricOf(store, 'kiosk402_catalog_age_seconds')
    if (Date.now() - age * 1_000 > startedAt) return longestMs
  }
  throw new Error(`No reload within ${reloadWithinMs / 1_000} s:\n${store.output()}`)
}
