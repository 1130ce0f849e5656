import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../primitives/refusal.ts'
import { clientKeyOf } from './client-key.ts'

/** What one client address may have of the store at a time. */
export interface TurnBounds {
  /** Requests that are under way, those that wait for their turn and unread answers included. */
  readonly atOnceMost: number
  /** Requests that begin in one turn of the event loop. */
  readonly perTurn: number
  /** An answer that has not been read this long after it was given is cut off; milliseconds. */
  readonly readWithinMs: number
}

/** More than agents or people behind one address have under way, few enough to cost others little. */
export const usualBounds: TurnBounds = { atOnceMost: 64, perTurn: 4, readWithinMs: 60_000 }

interface Client {
  underWay: number
  /** How many began in this turn of the event loop. */
  begun: number
  readonly waiting: (() => void)[]
}

/**
 * Shares the store between client addresses, whatever they ask for. Of many requests that one of them
 * sends at once, a few begin in each turn of the event loop, and between two turns everybody else is
 * heard. Past a bound they are refused. Answers that nobody reads end.
 */
export function shareTurns(app: FastifyInstance, bounds: TurnBounds = usualBounds): void {
  const { atOnceMost, perTurn, readWithinMs } = bounds
  const clients = new Map<string, Client>()
  const begin = turnsOf(perTurn)
  const unread = cuttingUnread(readWithinMs)
  app.addHook('onClose', async () => unread.stop())
  app.addHook('onRequest', (request, reply, done) => {
    const key = clientKeyOf(request.ip)
    const client = clients.get(key) ?? { underWay: 0, begun: 0, waiting: [] }
    if (client.underWay >= atOnceMost) {
      reply.header('x-request-id', request.id)
      const message = `More than ${atOnceMost} requests at once; try again when some are answered.`
      done(new Refusal('rate_limited', message, { retryAfterSeconds: 1 }))
      return
    }
    clients.set(key, client)
    client.underWay += 1
    unread.watch(reply.raw)
    reply.raw.once('close', () => {
      unread.forget(reply.raw)
      client.underWay -= 1
      if (client.underWay === 0) clients.delete(key)
    })
    begin(client, done)
  })
}

/** Lets requests begin: at once while the client has had few in this turn, else in one of the next. */
function turnsOf(perTurn: number): (client: Client, go: () => void) => void {
  const busy = new Set<Client>()
  const nextTurn = () => {
    for (const client of busy) {
      const going = client.waiting.splice(0, perTurn)
      client.begun = going.length
      if (going.length === 0) busy.delete(client)
      for (const go of going) go()
    }
    if (busy.size > 0) setImmediate(nextTurn)
  }
  return (client, go) => {
    if (client.begun >= perTurn) {
      client.waiting.push(go)
      return
    }
    if (busy.size === 0) setImmediate(nextTurn)
    busy.add(client)
    client.begun += 1
    go()
  }
}

/** Looks now and then at the answers under way, and ends those that wait for their reader too long. */
function cuttingUnread(readWithinMs: number) {
  /** Since when an answer waits; undefined while it does not. */
  const answers = new Map<ServerResponse, number | undefined>()
  const look = (now: number) => {
    for (const [answer, since = now] of answers) {
      const waits = answer.writableEnded || answer.writableNeedDrain
      answers.set(answer, waits ? since : undefined)
      if (waits && now - since >= readWithinMs) answer.destroy()
    }
  }
  const looks = setInterval(() => look(performance.now()), readWithinMs / 4)
  looks.unref()
  return {
    watch: (answer: ServerResponse) => answers.set(answer, undefined),
    forget: (answer: ServerResponse) => answers.delete(answer),
    stop: () => clearInterval(looks),
  }
}
