import { type Child, startChild } from './child.ts'
import { amountOf, type Figure, figure, quantile, reach } from './figures.ts'
import { publishedOffers, searchTargets } from './http-load.ts'
import type { HttpServer, Repeated } from './http-server.ts'
import { createLoadMaker, type Load, type LoadMaker, missingForLoad } from './wrk.ts'

const offers = 200_000
const queries = 700
const rounds = 5
const seconds = 2
/** All servers share this core; only the one under load has anything to do. */
const serverCore = 0

/** The servers, in the order in which they are loaded. */
const names = ['uncached', 'cached', 'fastify', 'node'] as const
type Name = (typeof names)[number]

type Server = Child<{ readonly port: number }>
type Servers = Readonly<Record<Name, Server>>

interface Turn extends Load {
  /** CPU time of the server for one request; microseconds. */
  readonly cpu: number
}
type Turns = Readonly<Record<Name, readonly Turn[]>>

/**
 * How many searches over HTTP one core answers per second, compared with a bare Fastify route and a bare
 * server of Node that send as many bytes with the same headers. If wrk or taskset is missing, the page
 * says so instead.
 */
export async function measureHttp(): Promise<Figure[]> {
  const missing = await missingForLoad()
  if (missing !== undefined) {
    console.log(`Searches over HTTP are left out: ${missing}.`)
    return [{ what: 'Searches over HTTP', value: 'left out', note: `On this machine ${missing}.` }]
  }
  const targets = searchTargets(publishedOffers(offers), queries)
  const started: Child<unknown>[] = []
  const loadMaker = await createLoadMaker(targets)
  try {
    const servers = await startServers(targets, started)
    return figuresOf(await loadInTurn(servers, loadMaker))
  } finally {
    await Promise.all([loadMaker.remove(), ...started.map((child) => child.stop())])
  }
}

async function startServers(
  targets: readonly string[],
  started: Child<unknown>[],
): Promise<Servers> {
  const start = async (server: HttpServer) => {
    const child = await startChild<{ port: number }>('http-server.ts', server, serverCore)
    started.push(child)
    return child
  }
  const uncached = await start({ kind: 'store', offers, maxAnswerBytes: 0 })
  const cached = await start({ kind: 'store', offers })
  const answers = await answersTo(targets, cached.told.port)
  const fastify = await start({ kind: 'fastify', answers })
  return { uncached, cached, fastify, node: await start({ kind: 'node', answers }) }
}

/** The headers that Node itself puts on every answer. */
const ofNode = ['connection', 'content-length', 'date', 'keep-alive']

/** The length and the headers of each answer. These requests also fill the store's cache. */
async function answersTo(targets: readonly string[], port: number): Promise<Repeated[]> {
  const answers: Repeated[] = []
  for (const target of targets) {
    const answer = await fetch(`http://127.0.0.1:${port}${target}`, {
      headers: { 'accept-encoding': 'identity' },
    })
    if (!answer.ok) throw new Error(`${target} was answered ${answer.status}`)
    const headers = Object.fromEntries(
      [...answer.headers].filter(([name]) => !ofNode.includes(name)),
    )
    answers.push({ length: (await answer.arrayBuffer()).byteLength, headers })
  }
  return answers
}

/** Loads each server briefly in every round, because the speed of the machine varies. */
async function loadInTurn(servers: Servers, loadMaker: LoadMaker): Promise<Turns> {
  const turns: Record<Name, Turn[]> = { uncached: [], cached: [], fastify: [], node: [] }
  for (const name of names) await turnOf(servers[name], loadMaker)
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) turns[name].push(await turnOf(servers[name], loadMaker))
  }
  return turns
}

async function turnOf(server: Server, { load }: LoadMaker): Promise<Turn> {
  const before = await server.cpuMs()
  const loaded = await load(server.told.port, seconds)
  const cpuMs = (await server.cpuMs()) - before
  return { ...loaded, cpu: (cpuMs * 1_000) / loaded.requests }
}

function figuresOf(turns: Turns): Figure[] {
  const median = (name: Name, part: keyof Turn) =>
    quantile(
      turns[name].map((turn) => turn[part]),
      0.5,
    )
  const share = (one: Name, other: Name, of: (turn: Turn) => number = answered) => {
    const others = turns[other].map(of)
    return quantile(
      turns[one].map((turn, round) => of(turn) / (others[round] ?? 0)),
      0.5,
    )
  }
  const [first, ...others] = names.map((name) => ({
    ...figure(titles[name], median(name, 'perSecond'), '/s'),
    details: {
      p99: amountOf(median(name, 'p99'), 'ms'),
      'Core per request': amountOf(median(name, 'cpu'), 'µs'),
    },
  }))
  return [
    { ...(first as Figure), note },
    ...others,
    reach('Uncached searches against bare Fastify', share('uncached', 'fastify'), 40),
    reach('Cached searches against bare Fastify', share('cached', 'fastify'), 85),
    reach('The same, by what a request takes of the core', share('cached', 'fastify', byCore)),
    reach('Bare Fastify against bare node:http', share('fastify', 'node')),
  ]
}

const answered = ({ perSecond }: Turn) => perSecond
const byCore = ({ cpu }: Turn) => 1 / cpu

const note = `One core serves, the other asks for ${queries} different searches of topups over ${offers} offers, again and again, on 32 connections. The bare servers send bodies of the same lengths under the same headers in the same order. The store runs every hook of live mode, its log and its limits included; only the no of the limits was made a yes. A share is the median of those of ${rounds} rounds, in which each was asked in turn; where something else uses these cores, only the one by the core means much.`

const titles: Readonly<Record<Name, string>> = {
  uncached: 'Searches over HTTP, each answered anew',
  cached: 'Searches over HTTP, answered from memory',
  fastify: 'Bare Fastify, the same lengths and headers',
  node: 'Bare node:http, the same lengths and headers',
}
