import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { hashOf, sameHash } from '../secrets/tokens.ts'
import { isOwnName } from './own-names.ts'

export interface MetricsDeps {
  readonly page: () => Promise<{ readonly contentType: string; readonly body: string }>
  /** The Bearer token that gives access to the page. */
  readonly token: string | undefined
  /**
   * Whether callers on this machine may read the page if no token is set. Never in live mode: a request that a
   * proxy on this machine forwards without headers of its own looks like a local one.
   */
  readonly isOpenHere: boolean
  /** Called for every answered request, with the pattern of its route. */
  readonly answered: (request: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }) => void
}

/** Counts requests, and serves the metrics to the operator. Everyone else gets 404. */
export function routeMetrics(app: FastifyInstance, deps: MetricsDeps): void {
  app.addHook('onResponse', (request, reply, done) => {
    deps.answered({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    })
    done()
  })

  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request, deps)) {
      throw new Refusal('not_found', 'There is nothing at this address.')
    }
    const { contentType, body } = await deps.page()
    return reply.header('cache-control', 'no-store').type(contentType).send(body)
  })
}

function mayRead(request: FastifyRequest, { token, isOpenHere }: MetricsDeps): boolean {
  return token === undefined ? isOpenHere && isFromHere(request) : carries(request, token)
}

/** Compares hashes, so that the time reveals neither the length of the token nor where it differs. */
function carries({ headers }: FastifyRequest, token: string): boolean {
  const [, given] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? []
  return given !== undefined && sameHash(hashOf(given), hashOf(token))
}

/** Headers of requests that a proxy forwarded or a web page sent: they do not come from the operator. */
const broughtBy = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via', 'origin']
const loopback = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/

/** Checks the address of the socket, and never what proxies say about the client. */
function isFromHere({ headers, socket }: FastifyRequest): boolean {
  return (
    loopback.test(socket.remoteAddress ?? '') &&
    isOwnName(headers.host ?? '') &&
    broughtBy.every((name) => headers[name] === undefined)
  )
}
