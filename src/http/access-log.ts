import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isCheckoutId, isOrderId } from '../lib/ids.ts'
import { clientKeyOf } from './client-key.ts'
import type { AppDeps } from './deps.ts'

/** More than the limits of reading, searching and buying admit in a minute, together with what has no limit. */
const usualMaxLines = 600

const minuteMs = 60_000

const scope = new AsyncLocalStorage<string>()

/** The id of the request that the current work belongs to; undefined in work that no POST started. */
export const currentRequest = (): string | undefined => scope.getStore()

/**
 * Logs one line for each request, with the pattern of its route and never its URL: queries, bodies and
 * headers carry phone numbers, tokens and signatures. Requests answered 429, and those of a client that makes
 * more than `maxLines` in a minute, are only counted in the metrics, because a flood of them would fill the disk.
 *
 * Events during a POST carry the id of the request as well; only a POST buys or claims anything.
 */
export function logAccess(
  app: FastifyInstance,
  { monotonicMs, maxLines = usualMaxLines }: Pick<AppDeps, 'monotonicMs' | 'maxLines'>,
): void {
  // Not before the body is read: the events of reading it run in the scope of the connection.
  app.addHook('preHandler', (request, _, done) => {
    if (request.method === 'POST') scope.run(request.id, done)
    else done()
  })
  // A line has only these fields, none of which needs redaction. Redaction would double the cost of a line.
  const log = app.log.child({}, { redact: [] })
  const mayLog = boundedPerMinute(maxLines, monotonicMs, (requests) => {
    const message = `requests without a line: each of their clients made more than ${maxLines} in a minute`
    log.warn({ requests }, message)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (reply.statusCode === 429 || !mayLog(clientKeyOf(request.ip))) return done()
    log.info(
      {
        reqId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ...recordIn(request),
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
    done()
  })
}

/**
 * Whether a client may do something once more in this minute.
 *
 * @param refused told in a later minute how often it said no
 */
function boundedPerMinute(
  max: number,
  monotonicMs: () => number,
  refused: (times: number) => void,
): (client: string) => boolean {
  const done = new Map<string, number>()
  let endsAt = 0
  let noes = 0
  const begin = (now: number) => {
    if (noes > 0) refused(noes)
    done.clear()
    endsAt = now + minuteMs
    noes = 0
  }
  return (client) => {
    const now = monotonicMs()
    if (now >= endsAt) begin(now)
    const times = (done.get(client) ?? 0) + 1
    done.set(client, times)
    if (times > max) noes += 1
    return times <= max
  }
}

/** The order that the request bought, found or named, and the checkout that it named. */
function recordIn({ orderId, params }: FastifyRequest): { order?: string; checkout?: string } {
  const named = Object.values(params ?? {}).map(String)
  const order = orderId ?? named.find(isOrderId)
  const checkout = named.find(isCheckoutId)
  return { ...(order && { order }), ...(checkout && { checkout }) }
}
