import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { hashOf, sameHash } from '../secrets/tokens.ts'
import { isOwnName } from './own-names.ts'

export interface MetricsDeps {
  readonly page: () => Promise<{ readonly contentType: string; readonly body: string }>
  /** What opens the page. */
  readonly token: string | undefined
  /**
   * Whether without a token this machine may read it. Not in live mode: what a proxy on this machine
   * passes on, with no header of its own, cannot be told from a call of this machine.
   */
  readonly isOpenHere: boolean
  /** Hears of every answered request, by the pattern of its route. */
  readonly answered: (request: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }) => void
}

/** Counts requests, and shows all numbers to the operator. For everyone else there is nothing here. */
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

/** The hashes are compared, so that the time tells neither the length nor where they differ. */
function carries({ headers }: FastifyRequest, token: string): boolean {
  const [, given] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? []
  return given !== undefined && sameHash(hashOf(given), hashOf(token))
}

/** A proxy on this machine brings strangers here, and a browser brings pages of strangers. */
const broughtBy = ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via', 'origin']
const loopback = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/

/** Looks at the socket itself: what proxies say of the client takes no part. */
function isFromHere({ headers, socket }: FastifyRequest): boolean {
  return (
    loopback.test(socket.remoteAddress ?? '') &&
    isOwnName(headers.host ?? '') &&
    broughtBy.every((name) => headers[name] === undefined)
  )
}
