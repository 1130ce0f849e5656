import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { newDataDir, startChildStore } from '../test/child-store.ts'
import { type Child, startChild } from './child.ts'
import { metricOf } from './start.ts'
import { type Figure, figure, median } from './table.ts'

type Server = Pick<Child, 'url' | 'cpuMs'>

const requests = 2_000
const atOnce = 16
const rounds = 3
const countries = ['US', 'MX', 'GT', 'NG', 'IN', 'PH', 'DE', 'FR']
const repeated = (at: number) => `/ai/topups?country=${countries[at % countries.length]}`
/** Searches that are all different, also from those of other rounds. */
const unique = (round: number) => (at: number) =>
  `/ai/topups?offset=${(round * requests + at) % 4_000}&limit=${1 + round * 12 + (at % 12)}`

/** What a request costs the process that answers it, beside a bare Fastify route. */
export async function measureHttp(): Promise<Figure[]> {
  const dataDir = await newDataDir()
  await using started = new AsyncDisposableStack()
  started.defer(() => rm(dataDir, { recursive: true, force: true }))
  const child = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: '12000' } })
  started.defer(async () => void (await child.stop()))
  const cpuMs = async () => (await metricOf(child, 'process_cpu_seconds_total')) * 1_000
  const store: Server = { url: child.url, cpuMs }
  const bodies = await Promise.all(countries.map((_, at) => bodyOf(store.url + repeated(at))))
  const bare = await startChild({ does: 'bare', lengths: bodies.map(({ length }) => length) })
  started.defer(bare.stop)
  const times = { unique: [] as number[], repeated: [] as number[], bare: [] as number[] }
  for (let round = 0; round <= rounds; round += 1) {
    times.unique.push(await costOf(store, unique(round)))
    times.repeated.push(await costOf(store, repeated))
    times.bare.push(await costOf(bare, () => '/ai/topups'))
  }
  // The first round warms up.
  const of = (name: keyof typeof times) => median(times[name].slice(1))
  return [
    figure('CPU of a search over HTTP, answered anew', of('unique'), 'ms'),
    figure('CPU of a search over HTTP, from memory', of('repeated'), 'ms'),
    figure('CPU of a bare Fastify route with the same lengths', of('bare'), 'ms'),
    figure('A search anew against bare Fastify', of('unique') / of('bare'), 'times'),
    figure('A search from memory against bare Fastify', of('repeated') / of('bare'), 'times'),
  ]
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
