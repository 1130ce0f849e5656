import type { FastifyInstance } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { holdUp } from './gate.ts'
import { clientKeyOf, type Limits } from './rate-limit.ts'

/** More requests under way than agents or people behind one address need. */
export const maxAtOnce = 64
/** Of these, the reads that are worked on at a time; the others wait. No read waits for anything outside. */
const maxReads = 2
/** While connections arrive, so many of them are accepted before the next read of an address begins. */
const arrivalsBetween = 32

interface Client {
  underWay: number
  reading: number
  readonly waiting: Set<() => void>
}

/**
 * Keeps one client address from delaying the others: a few of its reads are worked on at a time, and above
 * {@link maxAtOnce} its requests are refused (see {@link holdUp}), except probes.
 */
export function limitAtOnce(app: FastifyInstance, limits: Pick<Limits, 'reading'>): void {
  const clients = new Map<string, Client>()
  let arrivals = 0
  app.server.on('connection', () => {
    arrivals += 1
  })

  /**
   * Node accepts one connection in each turn of the event loop, so a client behind hundreds of them is reached soon
   * only if most turns are short.
   */
  function betweenArrivals(work: () => void): void {
    const first = arrivals
    // The first look may still come in the same turn.
    let seen = -1
    const look = () => {
      const isQuiet = arrivals === seen
      seen = arrivals
      if (isQuiet || arrivals - first >= arrivalsBetween) work()
      else setImmediate(look)
    }
    setImmediate(look)
  }

  app.addHook('onRequest', (request, reply, done) => {
    const key = clientKeyOf(request.ip)
    const client = clients.get(key) ?? { underWay: 0, reading: 0, waiting: new Set() }
    const { limit, isProbe } = request.routeOptions.config ?? {}
    const isRead = request.method === 'GET' && limit !== undefined
    const begin = () => {
      client.waiting.delete(begin)
      client.reading += 1
      done()
    }
    const forget = () => {
      if (client.underWay === 0 && client.reading === 0) clients.delete(key)
    }
    const endRead = () => {
      client.reading -= 1
      beginNext(client)
      forget()
    }
    const leave = () => {
      client.underWay -= 1
      // One that has hung up before its turn is not worked for.
      if (!isRead || client.waiting.delete(begin)) forget()
      else betweenArrivals(endRead)
    }
    const enter = () => {
      if (reply.raw.destroyed) return
      clients.set(key, client)
      client.underWay += 1
      reply.raw.once('close', leave)
      if (!isRead) return done()
      client.waiting.add(begin)
      beginNext(client)
    }
    if (isProbe || client.underWay < maxAtOnce) return enter()
    reply.header('x-request-id', request.id)
    holdUp(limits, request, tooMany()).then(enter, done)
  })
}

function beginNext({ reading, waiting }: Client): void {
  const [begin] = waiting
  if (reading < maxReads) begin?.()
}

function tooMany(): Refusal {
  const message = `More than ${maxAtOnce} requests at once; try again when some are answered.`
  return new Refusal('rate_limited', message, { retryAfterSeconds: 1 })
}
