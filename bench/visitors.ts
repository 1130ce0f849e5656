import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { kinds } from '../src/catalog/good.ts'
import { type Child, startChild } from './child.ts'
import { type Figure, figure, quantile, ratio } from './figures.ts'
import type { Flood } from './flood.ts'
import type { HttpServer } from './http-server.ts'
import { supplierOffers } from './made-catalog.ts'

const offers = 200_000
const atOnce = 300
const rounds = 5
/** The number of offers that the sandbox lists, and a step through them that reaches all brands and countries. */
const supplierListed = 12_000
const step = 37

type Server = Child<{ readonly port: number }>

/**
 * How long an honest request takes while one address sends hundreds of different page searches at once,
 * compared with a quiet store.
 */
export async function measureVisitors(): Promise<Figure[]> {
  const server: Server = await startChild('http-server.ts', { kind: 'store', offers } as HttpServer)
  try {
    const url = `http://127.0.0.1:${server.told.port}`
    await honest(url)
    const alone: number[] = []
    const beside: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await honest(url))
      const { port } = server.told
      const flood = { port, count: atOnce, from: round * atOnce } satisfies Flood
      const attacker = await startChild('flood.ts', flood)
      beside.push(await slowest(url))
      await attacker.stop()
    }
    const [quiet, loud] = [quantile(alone, 0.5), quantile(beside, 0.5)]
    return [
      { ...figure('An honest request while nobody else asks', quiet, 'ms'), note },
      figure(
        `The slowest beside ${atOnce} page searches at once from one address`,
        loud,
        'ms',
        200,
      ),
      ratio('The same, against none', loud / quiet),
      ...(await searchFigures(server)),
      ...(await offerFigures()),
    ]
  } finally {
    await server.stop()
  }
}

/** Queries by number; a new number is a query that no cache has. */
const shapes: Readonly<Record<string, (at: number) => string>> = {
  'words and values': (at) => `q=a&min=1&max=${90_000 + at}`,
  values: (at) => `min=1&max=${90_000 + at}`,
  'values, dearest first': (at) => `min=1&max=${90_000 + at}&sort=high`,
  'words, cheapest first': (at) => `q=a&sort=low&page=${2 + at}`,
  'a country and values': (at) => `country=US&min=1&max=${90_000 + at}`,
  'narrow values, cheapest first': (at) => `min=10&max=${20 + at / 100}&sort=low`,
  'words, from the last pages': (at) => `q=a&page=${4_000 - at}`,
  'many short words': (at) => `q=a+b+c+d+e+f+g+h+i+j+k&min=${1 + at}`,
  'words that nothing has': (at) => `q=qwert${at}`,
}

async function searchFigures(server: Server): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [shape, queryOf] of Object.entries(shapes)) {
    const pathOf = (at: number) => `/search?kind=topup&${queryOf(at)}`
    figures.push(await pageFigure(server, `A page search by ${shape}`, pathOf))
  }
  return figures
}

/** Pages of offers are never cached, because each form contains a key of its own. */
async function offerFigures(): Promise<Figure[]> {
  const store = { kind: 'store', offers: supplierListed, likeSupplier: true } satisfies HttpServer
  const server: Server = await startChild('http-server.ts', store)
  try {
    const offers = supplierOffers(supplierListed)
    const figures: Figure[] = []
    for (const kind of kinds) {
      const ids = offers.filter((offer) => offer.kind === kind).map(({ id }) => id)
      const pathOf = (at: number) => `/buy/${ids[(at * step) % ids.length]}`
      figures.push(await pageFigure(server, `The page of an offer, ${kind}`, pathOf))
    }
    return figures
  } finally {
    await server.stop()
  }
}

/** CPU time of the server for one page, including HTTP and garbage collection; other processes do not affect it. */
async function pageFigure(
  { told, cpuMs }: Server,
  what: string,
  pathOf: (at: number) => string,
): Promise<Figure> {
  const visit = async (at: number) => {
    const url = `http://127.0.0.1:${told.port}${pathOf(at)}`
    const answer = await fetch(url)
    if (!answer.ok) throw new Error(`${url} was answered ${answer.status}`)
    await answer.arrayBuffer()
  }
  const costs: number[] = []
  for (let batch = 0; batch < 18; batch += 1) {
    const before = await cpuMs()
    for (let at = 0; at < 8; at += 1) await visit(batch * 8 + at)
    // The first batches warm up the JIT.
    if (batch > 5) costs.push(((await cpuMs()) - before) / 8)
  }
  return figure(`${what}, its core`, quantile(costs, 0.5), 'ms', 3)
}

/** How long `/readyz` takes for a client at another address, on a new connection; milliseconds. */
async function honest(url: string): Promise<number> {
  const before = performance.now()
  const asked = get(`${url}/readyz`, { localAddress: '127.0.0.2', agent: false })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return performance.now() - before
}

/** The slowest of 20 honest requests that are sent while the store works on the searches; milliseconds. */
async function slowest(url: string): Promise<number> {
  const asked: Promise<number>[] = []
  for (let at = 0; at < 20; at += 1) {
    asked.push(honest(url))
    await setTimeout(10)
  }
  return Math.max(...(await Promise.all(asked)))
}

const note = `A store of ${offers.toLocaleString('en')} offers in a process of its own. Medians of ${rounds} rounds, beside the searches of the slowest of 20 requests, one every 10 ms; the searches come from a process and an address of their own.`
