import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import type { BuyingDeps } from '../src/api/deps.ts'
import { createStoreServer } from '../src/app/store-server.ts'
import { createLiveCatalog } from '../src/catalog/catalog.ts'
import { createHealth } from '../src/health/health.ts'
import {
  countingHere,
  createLimits,
  type Limits,
  type RateLimiter,
} from '../src/http/rate-limit.ts'
import { createLog, liveLog } from '../src/logging/log.ts'
import { createCounters } from '../src/operations/counters.ts'
import { networks } from '../src/payments/networks.ts'
import { createSigningKeys } from '../src/secrets/signing-keys.ts'
import { createDigest } from '../src/secrets/tokens.ts'
import { type Served, serveParent } from './child.ts'
import { publishedOffers } from './http-load.ts'
import { madeCatalog, pricing, supplierOffers } from './made-catalog.ts'

/** The length and the headers of an answer of the store, for a bare server to repeat. */
export interface Repeated {
  readonly length: number
  readonly headers: Readonly<Record<string, string>>
}

/** The server to measure: the store, or a bare server that sends bodies of the same lengths with the same headers. */
export type HttpServer =
  | {
      readonly kind: 'store'
      readonly offers: number
      /** Offers of every kind, as a supplier lists them; otherwise made topups. */
      readonly likeSupplier?: boolean
      readonly maxAnswerBytes?: number
    }
  | { readonly kind: 'fastify' | 'node'; readonly answers: readonly Repeated[] }

/** The store with all its routes, hooks and headers. It logs to standard output, as in live mode. */
async function serveStore({
  offers,
  likeSupplier = false,
  ...cache
}: HttpServer & { readonly kind: 'store' }): Promise<Served> {
  const now = () => new Date()
  const monotonicMs = () => performance.now()
  const counters = createCounters()
  const app = createStoreServer({
    ...cache,
    liveCatalog: createLiveCatalog(
      madeCatalog((likeSupplier ? supplierOffers : publishedOffers)(offers)),
    ),
    pricing,
    site: {
      name: 'Bench',
      description: '',
      url: 'http://localhost',
      logo: 'http://localhost/logo.svg',
      contact: '',
      acceptsCrypto: [],
    },
    log: createLog('info', liveLog()),
    now,
    monotonicMs,
    trustProxy: false,
    // One client makes all requests, and every one is to be logged.
    maxLines: Infinity,
    limits: neverRefusing(createLimits(countingHere(monotonicMs))),
    health: createHealth(now),
    draining: new AbortController().signal,
    isLocal: false,
    metrics: {
      token: undefined,
      isOpenHere: false,
      answered: counters.countRequest,
      page: async () => ({ contentType: 'text/plain', body: '' }),
    },
    buying: nobodyBuys,
    tracking: {
      tokenSigner: { sign: () => '', read: () => undefined },
      codes: createDigest([Buffer.alloc(32)], 'x'),
    },
    processorWebhook: {
      hasten: async () => undefined,
      invoiceIn: () => ({ isGenuine: false }),
    },
    webhook: {
      orders: nobodyBuys.orders,
      notifier: nobodyBuys.purchases.notifier,
      suppliers: [],
    },
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { told: { port: portOf(app.server) }, stop: () => app.close() }
}

/** The routes for purchases exist, but their dependencies are stubs that can sell nothing. */
const nobodyBuys = {
  receipts: { keys: createSigningKeys([Buffer.alloc(32)], 'receipts') },
  purchases: {
    policy: { deliverWithinMs: 600_000, refundGraceMs: 0, patienceMs: 0 },
    payees: [{ network: networks['base-sepolia'], payTo: '' }],
  },
} as unknown as BuyingDeps

/** The store's rate limits, which count as always but allow every request. */
function neverRefusing(limits: Limits): Limits {
  const lifted = (limiter: RateLimiter): RateLimiter => ({
    ...limiter,
    take: (key) => allowed(limiter.take(key)),
  })
  return {
    discovery: lifted(limits.discovery),
    reading: lifted(limits.reading),
    purchase: lifted(limits.purchase),
    refused: lifted(limits.refused),
    mail: lifted(limits.mail),
    checkout: lifted(limits.checkout),
    mailbox: lifted(limits.mailbox),
    mailing: lifted(limits.mailing),
  }
}

function allowed(taken: ReturnType<RateLimiter['take']>): ReturnType<RateLimiter['take']> {
  if (taken instanceof Promise) return taken.then((given) => ({ ...given, allowed: true }))
  return { ...taken, allowed: true }
}

async function serveFastify(next: () => Answer): Promise<Served> {
  const app = Fastify()
  app.get('/ai/topups', (_, reply) => {
    const { headers, body } = next()
    return reply.headers(headers).send(body)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { told: { port: portOf(app.server) }, stop: () => app.close() }
}

async function serveNode(next: () => Answer): Promise<Served> {
  const answer: RequestListener = (_, response) => {
    const { headers, body } = next()
    response.writeHead(200, { ...headers, 'content-length': body.length })
    response.end(body)
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { told: { port: portOf(server) }, stop: async () => server.closeAllConnections() }
}

type Answer = Pick<Repeated, 'headers'> & { readonly body: Buffer }

/** Cycles through these answers. */
function inTurn(answers: readonly Repeated[]): () => Answer {
  const made = answers.map(({ length, headers }) => ({ headers, body: Buffer.alloc(length, ' ') }))
  let at = 0
  return () => {
    at = (at + 1) % made.length
    return made[at] as Answer
  }
}

function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port
}

await serveParent<HttpServer>((input) =>
  input.kind === 'store'
    ? serveStore(input)
    : input.kind === 'fastify'
      ? serveFastify(inTurn(input.answers))
      : serveNode(inTurn(input.answers)),
)
