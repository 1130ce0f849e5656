import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type ChildStore, newDataDir, startChildStore } from '../test/child-store.ts'
import type { Bare } from './bare.ts'
import { type Child, startChild } from './child.ts'
import type { Flood } from './flood.ts'
import { metricOf } from './metrics.ts'
import { type Figure, figure, median } from './table.ts'

const offers = 12_000
const requests = 2_000
const atOnce = 16
const rounds = 3
const flooding = 300

/** What a request costs the process that answers it, beside a bare Fastify route, and beside one busy visitor. */
export async function measureHttp(): Promise<Figure[]> {
  const dataDir = await newDataDir()
  const env = { SANDBOX_OFFERS: String(offers) }
  const store = await startChildStore({ dataDir, env })
  try {
    return [
      ...(await searchFigures(store)),
      ...(await pageFigures(store)),
      ...(await besideFlood(store)),
    ]
  } finally {
    await store.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** A server, with the CPU time of its process. */
interface Server {
  readonly port: number
  /** Milliseconds since its start. */
  readonly cpuMs: () => Promise<number>
}

const cpuOf = (store: ChildStore): Server => ({
  port: store.port,
  cpuMs: async () => (await metricOf(store, 'process_cpu_seconds_total')) * 1_000,
})

/** Searches that are all different, also from those of other rounds. */
const anew = (round: number) => (at: number) =>
  `/ai/topups?offset=${(round * requests + at) % 4_000}&limit=${1 + round * 12 + (at % 12)}`
const countries = ['US', 'MX', 'GT', 'NG', 'IN', 'PH', 'DE', 'FR']
const again = (at: number) => `/ai/topups?country=${countries[at % countries.length]}`

async function searchFigures(store: ChildStore): Promise<Figure[]> {
  const lengths = await Promise.all(
    countries.map(async (_, at) => (await body(store.port, again(at))).length),
  )
  const child: Child<{ readonly port: number }> = await startChild('bare.ts', {
    lengths,
  } satisfies Bare)
  const bare: Server = { port: child.told.port, cpuMs: child.cpuMs }
  try {
    const times: Record<'anew' | 'again' | 'bare', number[]> = { anew: [], again: [], bare: [] }
    for (let round = 0; round <= rounds; round += 1) {
      const costs = {
        anew: await costOf(cpuOf(store), requests, anew(round)),
        again: await costOf(cpuOf(store), requests, again),
        bare: await costOf(bare, requests, () => '/ai/topups'),
      }
      // The first round warms up.
      if (round === 0) continue
      for (const name of ['anew', 'again', 'bare'] as const) times[name].push(costs[name])
    }
    const bareMs = median(times.bare)
    return [
      figure('CPU of a search over HTTP, answered anew', median(times.anew), 'ms'),
      figure('CPU of a search over HTTP, from memory', median(times.again), 'ms'),
      figure('CPU of a bare Fastify route with the same lengths', bareMs, 'ms'),
      figure('A search anew against bare Fastify', median(times.anew) / bareMs, 'times'),
      figure('A search from memory against bare Fastify', median(times.again) / bareMs, 'times'),
    ]
  } finally {
    await child.stop()
  }
}

/** Pages with a form are never answered from memory, and each search is another one. */
async function pageFigures(store: ChildStore): Promise<Figure[]> {
  const pages = {
    'a page search by words and values': (at: number) =>
      `/search?kind=topup&q=a&min=1&max=${90_000 + at}`,
    'a page search, cheapest first': (at: number) =>
      `/search?kind=topup&q=a&sort=low&page=${2 + (at % 90)}`,
    'the page of an offer': () => '/buy/TEST-VOUCHER-OK',
  }
  const figures: Figure[] = []
  for (const [what, pathOf] of Object.entries(pages)) {
    await costOf(cpuOf(store), 300, pathOf)
    const cost = await costOf(cpuOf(store), 600, (at) => pathOf(1_000 + at))
    figures.push(figure(`CPU of ${what}`, cost, 'ms', { most: 10 }))
  }
  return figures
}

/** CPU time of the server for one request; milliseconds. */
async function costOf(
  server: Server,
  count: number,
  pathOf: (at: number) => string,
): Promise<number> {
  const before = await server.cpuMs()
  let sent = 0
  const worker = async () => {
    while (sent < count) {
      sent += 1
      await body(server.port, pathOf(sent))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return ((await server.cpuMs()) - before) / count
}

const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

/** @throws when the status is not 200 */
async function body(port: number, path: string): Promise<Buffer> {
  const headers = { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') }
  const request = get({ host: '127.0.0.1', port, path, headers, agent })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  const bytes = await buffer(answer)
  if (answer.statusCode !== 200) throw new Error(`${path} was answered ${answer.statusCode}`)
  return bytes
}

/** How long a request of somebody else takes while one address sends hundreds of page searches at once. */
async function besideFlood({ port }: ChildStore): Promise<Figure[]> {
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await waitOf(port))
    const flood: Flood = { port, count: flooding, from: round * flooding }
    const visitor = await startChild('flood.ts', flood)
    const waits: Promise<number>[] = []
    for (let at = 0; at < 20; at += 1) {
      waits.push(waitOf(port))
      await delay(10)
    }
    beside.push(Math.max(...(await Promise.all(waits))))
    await visitor.stop()
  }
  return [
    figure('A request while nobody else asks', median(alone), 'ms'),
    figure(
      `The slowest of 20 beside ${flooding} page searches of one address`,
      median(beside),
      'ms',
      {
        most: 200,
      },
    ),
  ]
}

/** How long `/readyz` takes on a new connection; milliseconds. */
export async function waitOf(port: number): Promise<number> {
  const before = performance.now()
  const request = get({ host: '127.0.0.1', port, path: '/readyz', agent: false })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return performance.now() - before
}
