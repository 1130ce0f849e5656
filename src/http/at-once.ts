import type { FastifyInstance } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { holdUp } from './gate.ts'
import type { Limits } from './rate-limit.ts'

/** More requests under way than agents or people behind one address need. */
export const maxAtOnce = 64
/** Of these, the reads that are worked on at a time; the others wait. No read waits for anything outside. */
const maxReads = 2
/**
 * While connections arrive, the next read of an address begins this much later. Node accepts one connection in each
 * turn of the event loop, so a client behind hundreds of them is reached soon only if most turns are short.
 */
const pauseMs = 20

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
  let arrivedAt = Number.NEGATIVE_INFINITY
  app.server.on('connection', () => {
    arrivedAt = performance.now()
  })

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
      else if (performance.now() - arrivedAt < pauseMs) setTimeout(endRead, pauseMs)
      else setImmediate(endRead)
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
