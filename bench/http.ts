import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildStore, newDataDir, startChildStore } from '../test/child-store.ts'
import { startChild } from './child.ts'
import { metricOf, waitOf } from './start.ts'
import { type Figure, figure, median } from './table.ts'

const requests = 2_000
const atOnce = 16
const rounds = 3
const flooding = 300

/** What a request costs the process that answers it, beside a bare Fastify route, and beside one busy visitor. */
export async function measureHttp(): Promise<Figure[]> {
  const dataDir = await newDataDir()
  const store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: '12000' } })
  const server: Server = {
    url: store.url,
    cpuMs: async () => (await metricOf(store, 'process_cpu_seconds_total')) * 1_000,
  }
  try {
    const searches = await searchFigures(server)
    const pages = await pageFigures(server)
    return [...searches, ...pages, ...(await besideFlood(store))]
  } finally {
    await store.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** A server, with the CPU time of its process since its start; milliseconds. */
interface Server {
  readonly url: string
  readonly cpuMs: () => Promise<number>
}

/** Searches that are all different, also from those of other rounds. */
const anew = (round: number) => (at: number) =>
  `/ai/topups?offset=${(round * requests + at) % 4_000}&limit=${1 + round * 12 + (at % 12)}`
const countries = ['US', 'MX', 'GT', 'NG', 'IN', 'PH', 'DE', 'FR']
const again = (at: number) => `/ai/topups?country=${countries[at % countries.length]}`

async function searchFigures(store: Server): Promise<Figure[]> {
  const bodies = await Promise.all(countries.map((_, at) => body(store.url + again(at))))
  const bare = await startChild({ does: 'bare', lengths: bodies.map(({ length }) => length) })
  const times = { anew: [] as number[], again: [] as number[], bare: [] as number[] }
  try {
    for (let round = 0; round <= rounds; round += 1) {
      times.anew.push(await costOf(store, requests, anew(round)))
      times.again.push(await costOf(store, requests, again))
      times.bare.push(await costOf(bare, requests, () => '/ai/topups'))
    }
  } finally {
    await bare.stop()
  }
  // The first round warms up.
  const [anewMs, againMs, bareMs] = [times.anew, times.again, times.bare].map((all) =>
    median(all.slice(1)),
  ) as [number, number, number]
  return [
    figure('CPU of a search over HTTP, answered anew', anewMs, 'ms'),
    figure('CPU of a search over HTTP, from memory', againMs, 'ms'),
    figure('CPU of a bare Fastify route with the same lengths', bareMs, 'ms'),
    figure('A search anew against bare Fastify', anewMs / bareMs, 'times'),
    figure('A search from memory against bare Fastify', againMs / bareMs, 'times'),
  ]
}

/** Pages with a form are never answered from memory, and each search is another one. */
async function pageFigures(store: Server): Promise<Figure[]> {
  const pages = {
    'a page search by words and values': (at: number) =>
      `/search?kind=topup&q=a&min=1&max=${90_000 + at}`,
    'a page search, cheapest first': (at: number) =>
      `/search?kind=topup&q=a&sort=low&page=${2 + (at % 90)}`,
    'the page of an offer': () => '/buy/TEST-VOUCHER-OK',
  }
  const figures: Figure[] = []
  for (const [what, pathOf] of Object.entries(pages)) {
    await costOf(store, 300, pathOf)
    const cost = await costOf(store, 600, (at) => pathOf(1_000 + at))
    figures.push(figure(`CPU of ${what}`, cost, 'ms', { most: 10 }))
  }
  return figures
}

/** CPU time of the server for one request; milliseconds. */
async function costOf(
  { url, cpuMs }: Server,
  count: number,
  pathOf: (at: number) => string,
): Promise<number> {
  const before = await cpuMs()
  let sent = 0
  const worker = async () => {
    while (sent < count) {
      sent += 1
      await body(url + pathOf(sent))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return ((await cpuMs()) - before) / count
}

const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

/** @throws when the status is not 200 */
async function body(url: string): Promise<Buffer> {
  const headers = { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') }
  const [answer] = (await once(get(url, { headers, agent }), 'response')) as [IncomingMessage]
  const bytes = await buffer(answer)
  if (answer.statusCode !== 200) throw new Error(`${url} was answered ${answer.statusCode}`)
  return bytes
}

/** How long a request of somebody else takes while one address sends hundreds of page searches at once. */
async function besideFlood({ port }: ChildStore): Promise<Figure[]> {
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await waitOf(port))
    const from = round * flooding
    const visitor = await startChild({ does: 'flood', port, count: flooding, from })
    const waits: Promise<number>[] = []
    for (let at = 0; at < 20; at += 1) {
      waits.push(waitOf(port))
      await delay(10)
    }
    beside.push(Math.max(...(await Promise.all(waits))))
    await visitor.stop()
  }
  const slowest = `The slowest of 20 beside ${flooding} page searches of one address`
  return [
    figure('A request while nobody else asks', median(alone), 'ms'),
    figure(slowest, median(beside), 'ms', { most: 200 }),
  ]
}
