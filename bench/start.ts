import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildStore, newDataDir, startChildStore } from '../test/child-store.ts'
import { type Figure, figure } from './table.ts'

/** By the number of offers: the bars of the first start, of a warm one, and of the memory. */
const sizes = [
  { offers: 12_000, firstS: 10, warmS: 4, megabytes: 200 },
  { offers: 200_000, firstS: 60, warmS: 10, megabytes: 700 },
]
const reloadWithinMs = 300_000
/** Long enough to collect the garbage of reading a catalog. */
const settleMs = 3_000

/**
 * How long a store takes to start in an empty folder, to start again with its catalog on record, and to stop; and its
 * resident memory then, the second time after it has replaced the catalog, as every reload does.
 */
export async function measureStart(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { offers, firstS, warmS, megabytes } of sizes) {
    const dataDir = await newDataDir()
    const first = await runStore(dataDir, offers, async () => {})
    const warm = await runStore(dataDir, offers, untilReloaded)
    await rm(dataDir, { recursive: true, force: true })
    const of = `${offers.toLocaleString('en-US')} offers`
    const memory = { most: megabytes }
    figures.push(
      figure(`Start to ready, empty folder, ${of}`, first.readyS, 's', { most: firstS }),
      figure(`Start to ready, warm, ${of}`, warm.readyS, 's', { most: warmS }),
      figure(`SIGTERM to stopped, ${of}`, warm.stopS, 's', { most: 10 }),
      figure(`Memory after the first start, ${of}`, first.megabytes, 'MB', memory),
      figure(`Memory after a warm start and a reload, ${of}`, warm.megabytes, 'MB', memory),
    )
  }
  return figures
}

async function runStore(
  dataDir: string,
  offers: number,
  work: (store: ChildStore, startedAt: number) => Promise<void>,
) {
  const startedAt = Date.now()
  const store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: String(offers) } })
  try {
    await work(store, startedAt)
    await delay(settleMs)
    const megabytes = (await metricOf(store, 'process_resident_memory_bytes')) / 2 ** 20
    const stopS = (await store.stop()).ms / 1_000
    return { readyS: store.readyInMs / 1_000, megabytes, stopS }
  } finally {
    await store.stop()
  }
}

/** Waits until the store serves a list that it read after `startedAt`. */
async function untilReloaded(store: ChildStore, startedAt: number): Promise<void> {
  while (Date.now() < startedAt + reloadWithinMs) {
    const age = await metricOf(store, 'kiosk402_catalog_age_seconds')
    if (Date.now() - age * 1_000 > startedAt) return
    await delay(100)
  }
  throw new Error(`No reload within ${reloadWithinMs / 1_000} s:\n${store.output()}`)
}

/** A metric of a running store. */
export async function metricOf({ url }: ChildStore, name: string): Promise<number> {
  const page = await fetch(`${url}/metrics`).then((answer) => answer.text())
  const [, value] = new RegExp(`^${name} (\\S+)`, 'm').exec(page) ?? []
  if (value === undefined) throw new Error(`The store has no metric ${name}:\n${page}`)
  return Number(value)
}
