import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { holdUp } from './held-up.ts'
import type { Limits } from './rate-limit.ts'

/** The bounds for one client address. */
export interface TurnBounds {
  /** Requests under way, including those that wait for their turn and those whose answers are not read yet. */
  readonly maxAtOnce: number
  /** Requests that begin in one turn of the event loop. */
  readonly perTurn: number
  /** Time that its requests may take in one turn before the next request has to wait; milliseconds. */
  readonly perTurnMs: number
  /** An answer that has not been read for this long is cut off; milliseconds. */
  readonly readWithinMs: number
}

/** More than agents or people behind one address need, and few enough not to slow down others. */
export const usualBounds: TurnBounds = {
  maxAtOnce: 64,
  perTurn: 4,
  perTurnMs: 2,
  readWithinMs: 60_000,
}

/** The number of turns that take about ten milliseconds if each only accepts a connection. */
const maxArrivals = 64

interface Client {
  readonly key: string
  underWay: number
  /** How many requests began in this turn of the event loop, and how many milliseconds they took. */
  begun: number
  usedMs: number
  readonly waiting: (() => void)[]
}

/**
 * Shares the event loop fairly between client addresses. If one address sends many requests at once, only a few of
 * them begin in each turn of the event loop, so other clients are served in between. Requests above `maxAtOnce`
 * are refused (see {@link holdUp}), except probes. Answers that their client does not read are cut off.
 */
export function shareTurns(
  app: FastifyInstance,
  limits: Pick<Limits, 'reading'>,
  bounds: TurnBounds = usualBounds,
): void {
  const { maxAtOnce, readWithinMs } = bounds
  const clients = new Map<string, Client>()
  const leave = (client: Client) => {
    if (client.underWay === 0 && !turns.isCounting(client)) clients.delete(client.key)
  }
  const turns = turnsOf(bounds, leave)
  const unread = cuttingUnread(readWithinMs)
  const enter = (key: string, answer: ServerResponse, done: () => void) => {
    if (answer.destroyed) return
    const client = clients.get(key) ?? { key, underWay: 0, begun: 0, usedMs: 0, waiting: [] }
    clients.set(key, client)
    client.underWay += 1
    const place = unread.watch(answer)
    answer.once('close', () => {
      unread.forget(place)
      client.underWay -= 1
      leave(client)
    })
    // A client that has hung up meanwhile needs no answer.
    turns.begin(client, () => answer.destroyed || done())
  }
  app.server.on('connection', turns.tookConnection)
  app.addHook('onClose', async () => unread.stop())
  app.addHook('onRequest', (request, reply, done) => {
    const key = clientKeyOf(request.ip)
    const underWay = clients.get(key)?.underWay ?? 0
    const isProbe = request.routeOptions.config?.isProbe ?? false
    if (isProbe || underWay < maxAtOnce) return enter(key, reply.raw, done)
    reply.header('x-request-id', request.id)
    holdUp(limits, request, tooMany(maxAtOnce)).then(() => enter(key, reply.raw, done), done)
  })
}

function tooMany(maxAtOnce: number): Refusal {
  const message = `More than ${maxAtOnce} requests at once; try again when some are answered.`
  return new Refusal('rate_limited', message, { retryAfterSeconds: 1 })
}

/**
 * Starts requests: at once while their client has used little of this turn of the event loop, otherwise in a later
 * turn.
 *
 * Node accepts one new connection in each turn, in the order of arrival, so a client behind hundreds of them waits
 * for hundreds of turns. While connections arrive, the share of one turn has to last a client for
 * {@link maxArrivals} turns.
 *
 * @param done called with each client whose use of a turn no longer counts
 */
function turnsOf({ perTurn, perTurnMs }: TurnBounds, done: (client: Client) => void) {
  const counting = new Set<Client>()
  let isNewTaken = false
  let arrivals = 0
  const mayBegin = ({ begun, usedMs }: Client) => begun < perTurn && usedMs < perTurnMs
  const run = (client: Client, go: () => void) => {
    const from = performance.now()
    client.begun += 1
    go()
    client.usedMs += performance.now() - from
  }
  const share = (client: Client) => {
    client.begun = 0
    client.usedMs = 0
    if (client.waiting.length === 0) {
      counting.delete(client)
      done(client)
    }
    while (client.waiting.length > 0 && mayBegin(client)) {
      run(client, client.waiting.shift() as () => void)
    }
  }
  const nextTurn = () => {
    arrivals = isNewTaken ? arrivals + 1 : 0
    isNewTaken = false
    if (arrivals % maxArrivals === 0) for (const client of counting) share(client)
    if (counting.size > 0) setImmediate(nextTurn)
  }
  return {
    begin(client: Client, go: () => void) {
      if (counting.size === 0) setImmediate(nextTurn)
      counting.add(client)
      if (mayBegin(client)) run(client, go)
      else client.waiting.push(go)
    },
    isCounting: (client: Client) => counting.has(client),
    tookConnection() {
      isNewTaken = true
    },
  }
}

interface Watched {
  readonly answer: ServerResponse
  /** Since when it waits for its reader (`performance.now()`); undefined while it does not. */
  waitsSince: number | undefined
}

/**
 * Checks the answers under way at intervals, and cuts off those that have waited for their reader for too long.
 *
 * Answers are kept in an array whose places are reused. A Map that changes with every request is rebuilt every few
 * requests, and each discarded table keeps its answers alive until a full garbage collection: that cost a sixth of
 * the cached searches a second, and pauses of ten milliseconds.
 */
function cuttingUnread(readWithinMs: number) {
  const places: (Watched | undefined)[] = []
  const free: number[] = []
  const look = (watched: Watched, now: number) => {
    const { answer, waitsSince = now } = watched
    const waits = answer.writableEnded || answer.writableNeedDrain
    watched.waitsSince = waits ? waitsSince : undefined
    if (waits && now - waitsSince >= readWithinMs) answer.destroy()
  }
  const lookAtAll = () => {
    const now = performance.now()
    for (const watched of places) if (watched) look(watched, now)
  }
  const looks = setInterval(lookAtAll, readWithinMs / 4)
  looks.unref()
  return {
    /** Returns the place of the answer. */
    watch(answer: ServerResponse): number {
      const place = free.pop() ?? places.length
      places[place] = { answer, waitsSince: undefined }
      return place
    },
    forget(place: number) {
      places[place] = undefined
      free.push(place)
    },
    stop: () => clearInterval(looks),
  }
}
