import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildStore, newDataDir, startChildStore } from '../test/child-store.ts'
import { type Figure, figure } from './table.ts'

const sizes = [12_000, 200_000]
const reloadWithinMs = 300_000
/** Long enough to collect the garbage of reading a catalog. */
const settleMs = 3_000

/**
 * The resident memory of a store's process after its first start, and after a second one with a catalog on
 * record, which it serves while it reads the supplier's list and then replaces it, as every reload does.
 */
export async function measureMemory(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of sizes) {
    const dataDir = await newDataDir()
    const first = await memoryOf(dataDir, size, async () => {})
    const reloaded = await memoryOf(dataDir, size, untilReloaded)
    await rm(dataDir, { recursive: true, force: true })
    const offers = `${size.toLocaleString('en-US')} offers`
    const bar = { most: 400 }
    figures.push(figure(`Memory after the first start, ${offers}`, first, 'MB', bar))
    figures.push(figure(`Memory after a warm start and a reload, ${offers}`, reloaded, 'MB', bar))
  }
  return figures
}

async function memoryOf(
  dataDir: string,
  offers: number,
  until: (store: ChildStore, startedAt: number) => Promise<void>,
): Promise<number> {
  const startedAt = Date.now()
  const store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: String(offers) } })
  try {
    await until(store, startedAt)
    await delay(settleMs)
    return (await metricOf(store, 'process_resident_memory_bytes')) / 2 ** 20
  } finally {
    await store.stop()
  }
}

/** Waits until the store serves a list that it read after `startedAt`. */
async function untilReloaded(store: ChildStore, startedAt: number): Promise<void> {
  const until = performance.now() + reloadWithinMs
  while (performance.now() < until) {
    const age = await metricOf(store, 'kiosk402_catalog_age_seconds')
    if (Date.now() - age * 1_000 > startedAt) return
    await delay(100)
  }
  throw new Error(`No reload within ${reloadWithinMs / 1_000} s:\n${store.output()}`)
}

async function metricOf({ url }: ChildStore, name: string): Promise<number> {
  const page = await fetch(`${url}/metrics`).then((answer) => answer.text())
  const [, value] = new RegExp(`^${name} (\\S+)`, 'm').exec(page) ?? []
  if (value === undefined) throw new Error(`The store has no metric ${name}:\n${page}`)
  return Number(value)
}
