import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { newDataDir, startChildStore } from '../test/child-store.ts'
import { startChild } from '../test/harness/child.ts'
import type { Input } from './served.ts'
import { metricOf, waitOf } from './start.ts'
import { type Figure, figure, median } from './table.ts'

/** A server of the benchmarks in a process of its own. */
export async function startServer(input: Input) {
  const child = await startChild<string, number>('bench/served.ts', input)
  return { url: child.started, cpuMs: child.look, stop: child.stop }
}

export type Server = Pick<Awaited<ReturnType<typeof startServer>>, 'url' | 'cpuMs'>

const requests = 2_000
const atOnce = 16
const rounds = 3
const countries = ['US', 'MX', 'GT', 'NG', 'IN', 'PH', 'DE', 'FR']
const [anew, memory] = ['a search over HTTP, answered anew', 'a search over HTTP, from memory']
const bare = 'a bare Fastify route with the same lengths'
/** Pages with a form are never answered from memory, and each search is another one. */
const pages = {
  'a page search by words and values': (at: number) =>
    `/search?kind=topup&q=a&min=1&max=${90_000 + at}`,
  'a page search, cheapest first': (at: number) =>
    `/search?kind=topup&q=a&sort=low&page=${2 + (at % 90)}`,
  'the page of an offer': () => '/buy/TEST-VOUCHER-OK',
}
const repeated = (at: number) => `/ai/topups?country=${countries[at % countries.length]}`
const paths: Readonly<Record<string, (at: number) => string>> = {
  [anew]: (at) => `/ai/topups?offset=${at % 4_000}&limit=${1 + (at % 47)}`,
  [memory]: repeated,
  ...pages,
}

/** What a request costs the process that answers it, beside a bare Fastify route, and beside one busy visitor. */
export async function measureHttp(): Promise<Figure[]> {
  const dataDir = await newDataDir()
  await using started = new AsyncDisposableStack()
  started.defer(() => rm(dataDir, { recursive: true, force: true }))
  const child = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: '12000' } })
  started.defer(async () => void (await child.stop()))
  const cpuMs = async () => (await metricOf(child, 'process_cpu_seconds_total')) * 1_000
  const store: Server = { url: child.url, cpuMs }
  const bodies = await Promise.all(countries.map((_, at) => bodyOf(store.url + repeated(at))))
  const lengths = bodies.map(({ length }) => length)
  const fastify = started.adopt(await startServer({ does: 'bare', lengths }), (one) => one.stop())
  const costs: (readonly [what: string, cost: number])[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const turns = Object.entries(paths).map(([what, pathOf]) => [what, store, pathOf] as const)
    for (const [what, server, pathOf] of [...turns, [bare, fastify, () => '/ai/topups'] as const]) {
      const cost = await costOf(server, (at) => pathOf(round * requests + at))
      // The first round warms up.
      if (round > 0) costs.push([what, cost])
    }
  }
  const of = (what: string) => median(costs.filter(([one]) => one === what).map(([, ms]) => ms))
  return [
    ...[anew, memory, bare].map((what) => figure(`CPU of ${what}`, of(what), 'ms')),
    figure('Bare Fastify against a search anew', of(bare) / of(anew), 'times', { least: 0.15 }),
    figure('Bare Fastify against a search from memory', of(bare) / of(memory), 'times', {
      least: 0.6,
    }),
    ...Object.keys(pages).map((what) => figure(`CPU of ${what}`, of(what), 'ms', { most: 3 })),
    ...(await besideFlood(child.port)),
  ]
}

/** How long a request of somebody else takes while one address sends hundreds of page searches at once. */
async function besideFlood(port: number): Promise<Figure[]> {
  const count = 300
  const beside: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const visitor = await startServer({ does: 'flood', port, count, from: round * count })
    const waits: Promise<number>[] = []
    for (let at = 0; at < 20; at += 1) {
      waits.push(waitOf(port))
      await delay(10)
    }
    beside.push(Math.max(...(await Promise.all(waits))))
    await visitor.stop()
  }
  return [figure('The slowest of 20 beside 300 page searches', median(beside), 'ms', { most: 200 })]
}

/** CPU time of the server for one request; milliseconds. */
async function costOf({ url, cpuMs }: Server, pathOf: (at: number) => string): Promise<number> {
  const before = await cpuMs()
  let sent = 0
  const worker = async () => {
    while (sent < requests) {
      sent += 1
      await bodyOf(url + pathOf(sent))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return ((await cpuMs()) - before) / requests
}

const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

/** @throws when the status is not 200 */
async function bodyOf(url: string): Promise<Buffer> {
  const headers = { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') }
  const [answer] = (await once(get(url, { headers, agent }), 'response')) as [IncomingMessage]
  const bytes = await buffer(answer)
  if (answer.statusCode !== 200) throw new Error(`${url} was answered ${answer.statusCode}`)
  return bytes
}
