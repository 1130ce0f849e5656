import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildStore, newDataDir, startChildStore } from '../test/child-store.ts'
import { type Figure, figure } from './table.ts'

/** By the number of offers: the bars of the first start, a warm one, the memory, and the longest wait. */
const sizes = [
  { offers: 12_000, firstS: 3.15, warmS: 3.9, megabytes: 200, waitMs: 30 },
  { offers: 200_000, firstS: 20, megabytes: 700 },
]
const reloadWithinMs = 300_000
/** Long enough to collect the garbage of reading a catalog. */
const settleMs = 3_000

/**
 * How long a store takes to start in an empty folder, to start again with its catalog on record; its resident
 * memory then, the second time after it has replaced the catalog, as every reload does; and the longest wait of a
 * request meanwhile.
 */
export async function measureStart(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { offers, firstS, warmS, megabytes, waitMs } of sizes) {
    const dataDir = await newDataDir()
    const first = await runStore(dataDir, offers, async () => 0)
    const warm = await runStore(dataDir, offers, untilReloaded)
    await rm(dataDir, { recursive: true, force: true })
    const of = `${offers.toLocaleString('en-US')} offers`
    const memory = { most: megabytes }
    figures.push(
      figure(`Start to ready, empty folder, ${of}`, first.readyS, 's', { most: firstS }),
      figure(`Start to ready, warm, ${of}`, warm.readyS, 's', { most: warmS }),
      figure(`Longest wait during the reload, ${of}`, warm.longestMs, 'ms', { most: waitMs }),
      figure(`Memory after the first start, ${of}`, first.megabytes, 'MB', memory),
      figure(`Memory after a warm start and a reload, ${of}`, warm.megabytes, 'MB', memory),
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
    const megabytes = (await metricOf(store, 'process_resident_memory_bytes')) / 2 ** 20
    return { readyS: store.readyInMs / 1_000, megabytes, longestMs }
  } finally {
    await store.stop()
  }
}

/** Asks until the store serves a list that it read after `startedAt`. Returns the longest wait in milliseconds. */
async function untilReloaded(store: ChildStore, startedAt: number): Promise<number> {
  let longestMs = 0
  while (Date.now() < startedAt + reloadWithinMs) {
    for (let at = 0; at < 20; at += 1) {
      longestMs = Math.max(longestMs, await waitOf(store.port))
      await delay(5)
    }
    const age = await metricOf(store, 'kiosk402_catalog_age_seconds')
    if (Date.now() - age * 1_000 > startedAt) return longestMs
  }
  throw new Error(`No reload within ${reloadWithinMs / 1_000} s:\n${store.output()}`)
}

/** How long `/readyz` takes on a new connection; milliseconds. */
export async function waitOf(port: number): Promise<number> {
  const before = performance.now()
  const request = get({ host: '127.0.0.1', port, path: '/readyz', agent: false })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return performance.now() - before
}

/** A metric of a running store. */
export async function metricOf({ url }: ChildStore, name: string): Promise<number> {
  const page = await fetch(`${url}/metrics`).then((answer) => answer.text())
  const [, value] = new RegExp(`^${name} (\\S+)`, 'm').exec(page) ?? []
  if (value === undefined) throw new Error(`The store has no metric ${name}:\n${page}`)
  return Number(value)
}
