import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildStore, newDataDir, startChildStore } from '../test/child-store.ts'
import { amountOf, type Figure, figure } from './figures.ts'

const sizes = [2_000, 20_000, 200_000]
const reloadWithinMs = 120_000
/** Long enough to collect the garbage of reading a catalog. */
const settleMs = 3_000

/**
 * The memory of a store's process and the time of its start, by the size of its catalog. The second start
 * has a catalog on record: the store serves it, reads the supplier's lists meanwhile, and then replaces
 * it, as every reload does.
 */
export async function measureMemory(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of sizes) figures.push(...(await measureSize(size)))
  const [first, ...others] = figures
  return [{ ...(first as Figure), note }, ...others]
}

async function measureSize(offers: number): Promise<Figure[]> {
  const dataDir = await newDataDir()
  try {
    const started = await run(dataDir, offers, async () => {})
    const reloaded = await run(dataDir, offers, untilReloaded)
    const row = (what: string, { megabytes, readyInMs }: Run) => ({
      ...figure(`${what}, ${offers} offers`, megabytes, 'MB', 400),
      details: { 'Start to ready': amountOf(readyInMs / 1_000, 's') },
    })
    return [
      row('Memory of a store after its first start', started),
      row('Memory after a start with a catalog on record, and a reload', reloaded),
    ]
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

interface Run {
  readonly megabytes: number
  readonly readyInMs: number
}

async function run(
  dataDir: string,
  offers: number,
  until: (store: ChildStore, startedAt: number) => Promise<void>,
): Promise<Run> {
  const startedAt = Date.now()
  const store = await startChildStore({
    dataDir,
    env: { SANDBOX_OFFERS: String(offers) },
  })
  try {
    await until(store, startedAt)
    await delay(settleMs)
    const bytes = await metricOf(store, 'process_resident_memory_bytes')
    return { megabytes: bytes / 2 ** 20, readyInMs: store.readyInMs }
  } finally {
    await store.stop()
  }
}

/** Waits until the live catalog is one that was read after `startedAt`. */
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
  if (value === undefined) throw new Error(`The store shows no ${name}:\n${page}`)
  return Number(value)
}

const note =
  'The resident memory of the process that runs src/main.ts; the database, the chain and the supplier of the sandbox run beside it. A reload holds the old catalog and the new one for a moment.'
