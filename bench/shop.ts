import { rm } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import pg from 'pg'
import { startChain } from '../sandbox/chain/chain.ts'
import { freePort } from '../sandbox/port.ts'
import { startPostgres } from '../sandbox/postgres/postgres.ts'
import { migrate } from '../src/adapters/storage/migrate.ts'
import { type Service, startService } from '../src/app.ts'
import { readConfig, type SandboxConfig } from '../src/config.ts'
import { createLog } from '../src/logging/log.ts'
import { agreedKeys } from '../src/nodes/nodes.ts'
import { networks } from '../src/payments/networks.ts'
import {
  type RecordedRequest,
  type Reply,
  startScripted,
} from '../src/suppliers/scripted-server.fixture.ts'
import { rawVoucher } from '../src/suppliers/zendit/sample-offers.fixture.ts'
import { newDataDir } from '../test/child-store.ts'
import { type OutsideClock, type OutsideWatch, watchOutside } from './outside.ts'

/** The parts of a store: a PostgreSQL that syncs to disk, a real EVM node, and a scripted supplier. */
export interface Parts {
  readonly databaseUrl: string
  readonly chain: Awaited<ReturnType<typeof startChain>>
  readonly supplierUrl: string
  /** Measures how long a purchase waits for the chain and the supplier. */
  readonly outside: OutsideWatch
  stop(): Promise<void>
}

/** Starts all parts. If one does not start, stops those that did. */
export async function startParts(): Promise<Parts> {
  const dataDir = await newDataDir()
  const stops: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })]
  const stop = async () => {
    for (const end of stops) await end()
  }
  try {
    const postgres = await startPostgres({ dataDir })
    stops.unshift(() => postgres.stop())
    const chain = await startChain({ dataDir })
    stops.unshift(() => chain.stop())
    const supplier = await startScripted(deliveringAtOnce)
    stops.unshift(() => supplier.close())
    const outside = watchOutside([chain.rpcUrl, supplier.url])
    return { databaseUrl: postgres.databaseUrl, chain, supplierUrl: supplier.url, outside, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** A store in this process, with the own time of each of its purchases. */
export interface BenchStore {
  readonly port: number
  readonly service: Service
  /**
   * From the arrival of a request to the end of its answer with status 200, without its waiting for the
   * chain and the supplier; milliseconds.
   */
  readonly own: readonly number[]
}

/** The connections of a store, in a form that can be passed to another process. */
export interface StoreParts extends Pick<Parts, 'supplierUrl' | 'outside'> {
  readonly chain: Pick<Parts['chain'], 'rpcUrl' | 'keys'>
}

/** The METRICS_TOKEN of a store. */
export const metricsToken = 'the-token-of-the-bench'

/** The same for all stores, because stores on one database must have the same keys. */
const secretsKeys = [Buffer.alloc(32, 'the bench')]

/** The interval at which the store looks for a transaction until it is in a block; milliseconds. */
export const pollMs = 20

export async function openStore(parts: StoreParts, databaseUrl: string): Promise<BenchStore> {
  const port = await freePort()
  const PUBLIC_URL = `http://127.0.0.1:${port}`
  const env = { PORT: String(port), PUBLIC_URL, METRICS_TOKEN: metricsToken }
  const { chain, supplierUrl, outside } = parts
  const service = await startService({
    config: {
      ...(readConfig(env) as SandboxConfig),
      network: networks['base-sepolia'],
      rpcUrl: chain.rpcUrl,
      pollMs,
      maxHeadSeconds: 90,
      payTo: chain.keys.payTo,
      gasKey: chain.keys.gas,
      refundKey: chain.keys.refund,
      walletFactories: [],
      databaseUrl,
      suppliers: { zendit: { url: supplierUrl, key: 'bench' } },
      ratesUrl: `${supplierUrl}/rates`,
      secretsKeys,
      lostKeys: [],
    },
    keys: agreedKeys(secretsKeys),
    log: createLog('silent', { write: () => {} }),
  })
  const own: number[] = []
  const clocks = new WeakMap<FastifyRequest, OutsideClock>()
  service.app.addHook('preHandler', (request, _, done) => {
    outside.clocked((clock) => {
      clocks.set(request, clock)
      done()
    })
  })
  service.app.addHook('onResponse', async (request, reply) => {
    const waited = clocks.get(request)?.waited() ?? Number.NaN
    if (reply.statusCode === 200) own.push(reply.elapsedTime - waited)
  })
  await service.app.listen({ host: '127.0.0.1', port })
  return { port, service, own }
}

/** Runs the work with a store, and stops the store afterwards. */
export async function withStore<T>(
  parts: Parts,
  databaseUrl: string,
  work: (store: BenchStore) => Promise<T>,
): Promise<T> {
  const store = await openStore(parts, databaseUrl)
  try {
    return await work(store)
  } finally {
    await store.service.stop()
  }
}

/** A database of its own on the same server, with the tables of the store in it. */
export async function newDatabase({ databaseUrl }: Parts, name: string): Promise<string> {
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  const server = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  await server.query(`create database ${name}`)
  await server.end()
  const own = new pg.Pool({ connectionString: url.href, max: 1 })
  await migrate(own)
  await own.end()
  return url.href
}

/** The supplier never finishes orders whose ids have this after `ord_`. */
export const endless = 'open'

/** The price of the one offer, in atomic USDC. */
export const benchPrice = '500000'
export const benchOffer = 'BENCH_US_050_EGIFT'

/**
 * A supplier whose purchases are delivered at once: its own time is not measured, and must not hide the
 * time of the store.
 */
function deliveringAtOnce({ method, path, body: asked }: RecordedRequest): Reply {
  if (path === '/rates')
    return { json: { base: 'USD', date: new Date().toISOString().slice(0, 10), rates: {} } }
  if (path === '/balance')
    return { json: { availableBalance: 100_000_000, currency: 'USD', currencyDivisor: 100 } }
  if (path === '/vouchers/offers')
    return { json: { limit: 1024, offset: 0, total: 1, list: [offer] } }
  if (path.endsWith('/offers')) return { json: { limit: 1024, offset: 0, total: 0, list: [] } }
  const [, reference = ''] = /purchases\/(\w+)$/.exec(path) ?? []
  if (reference.startsWith(`ord${endless}`))
    return { json: { transactionId: reference, status: 'PENDING' } }
  if (reference !== '')
    return { json: { transactionId: reference, status: 'DONE', receipt: { epin: 'BENCH-CODE' } } }
  return method === 'POST'
    ? { json: { status: 'ACCEPTED', transactionId: referenceIn(asked) } }
    : { status: 404, json: { errorCode: 'NOT_FOUND' } }
}

function referenceIn(asked: unknown): unknown {
  return typeof asked === 'object' && asked !== null && 'transactionId' in asked
    ? asked.transactionId
    : ''
}

const offer = rawVoucher({
  offerId: benchOffer,
  cost: { currency: 'USD', currencyDivisor: 100, fixed: 50 },
  price: { currency: 'USD', currencyDivisor: 100, fixed: 50 },
})
