import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { holdUp } from './held-up.ts'
import type { Limits } from './rate-limit.ts'

/** What one client address may have of the store at a time. */
export interface TurnBounds {
  /** Requests that are under way, those that wait for their turn and unread answers included. */
  readonly maxAtOnce: number
  /** Requests that begin in one turn of the event loop. */
  readonly perTurn: number
  /** When they have taken this long of it, the next one begins in the next; milliseconds. */
  readonly perTurnMs: number
  /** An answer that has not been read this long after it was given is cut off; milliseconds. */
  readonly readWithinMs: number
}

/** More than agents or people behind one address have under way, few enough to cost others little. */
export const usualBounds: TurnBounds = {
  maxAtOnce: 64,
  perTurn: 4,
  perTurnMs: 2,
  readWithinMs: 60_000,
}

/** As many turns as take some ten milliseconds when each of them only takes a connection. */
const maxArrivals = 64

interface Client {
  readonly key: string
  underWay: number
  /** How many began in this turn of the event loop, and how long they took of it. */
  begun: number
  usedMs: number
  readonly waiting: (() => void)[]
}

/**
 * Shares the store between client addresses, whatever they ask for. Of many requests that one of them
 * sends at once, a few begin in each turn of the event loop, and between two turns everybody else is
 * heard. Past a bound they are held up, except probes. Answers that nobody reads end.
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
    // A client that hung up in the meantime needs no answer.
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
 * Lets requests begin: at once while their client has used little of this turn of the event loop, else
 * in one of the next.
 *
 * Node takes one new connection in a turn, in the order in which they came, and whoever comes behind
 * hundreds of them waits for hundreds of turns. So while connections come in, what a client may use of
 * one turn has to last it for {@link maxArrivals}.
 *
 * @param done is told of each client whose use of a turn no longer counts
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
  /** Since when it waits for its reader; undefined while it does not. */
  waitsSince: number | undefined
}

/**
 * Looks now and then at the answers under way, and ends those that wait for their reader too long.
 *
 * They have places in an array, which are used again. A map that answers enter and leave with every request is
 * made anew every few of them, and each table it leaves behind keeps its answers until a full collection:
 * that cost a sixth of the searches from memory, and stalls of ten milliseconds.
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
