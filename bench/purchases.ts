import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import type { FastifyInstance } from 'fastify'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { startNode } from '../test/harness/node.ts'
import { type Accepts, signPayment } from '../test/harness/payer.ts'
import { startProxy } from '../test/harness/proxy.ts'
import { type RealParts, settingsOn, startRealParts } from '../test/harness/real-parts.ts'
import { bodyFor, post, purchasePath } from '../test/stories/requests.ts'
import { type Child, startChild } from './child.ts'
import { type Figure, figure, median, quantile, timesOf } from './table.ts'

const path = purchasePath('voucher')
const body = bodyFor('voucher', 'OK')
const warmUp = 30
const purchases = 150
const buyers = 8
const rounds = 5
const purchasesEach = 15
/** Longer than the supplier takes to deliver; milliseconds. */
const deliveredMs = 15

/** One purchase after the other, and many at once beside the stock middleware of x402. */
export async function measurePurchases(): Promise<Figure[]> {
  const parts = await startRealParts({ offers: 60, stepMs: 1 })
  const proxy = await startProxy(parts.supplierUrl)
  // The first look finds the goods, so that no pause between two looks is measured.
  proxy.breakCalls((call) =>
    /^GET .*purchases\//.test(call) ? delay(deliveredMs, 'none') : 'none',
  )
  const proxied = { ...parts, supplierUrl: proxy.url }
  try {
    return [...(await oneByOne(proxied)), ...(await manyAtOnce(proxied))]
  } finally {
    await proxy.close()
    await parts.stop()
  }
}

async function oneByOne(parts: RealParts): Promise<Figure[]> {
  const settings = await settingsOn(parts)
  const own: number[] = []
  const service = await startNode(
    settings,
    () => undefined,
    (app) => timeOwnPart(app, own),
  )
  watchCalls([parts.chain.rpcUrl, parts.supplierUrl])
  try {
    const payments = await signMany(await newAccount(parts), settings.url, purchases + warmUp)
    const times = await timesOf(payments, (payment) => pay(settings.url, payment))
    const prices = await timesOf(Array(purchases), () => post(settings.url, path, body))
    const ours = own.slice(warmUp)
    return [
      figure('A purchase, the own part of the store, p50', median(ours), 'ms', { most: 10 }),
      figure('A purchase, the own part of the store, p95', quantile(ours, 0.95), 'ms'),
      figure('A purchase from request to goods, p50', median(times.slice(warmUp)), 'ms'),
      figure('The unpaid call that names the price, p50', median(prices), 'ms'),
    ]
  } finally {
    await service.stop()
  }
}

/** Adds up how long a request waits for calls to others; simultaneous calls count once. */
interface Clock {
  calls: number
  since: number
  waitedMs: number
}

const clocks = new AsyncLocalStorage<Clock>()

/** Adds to `own` the time of each purchase without its waits for chain and supplier. */
function timeOwnPart(app: FastifyInstance, own: number[]): void {
  const clockOf = new WeakMap<object, Clock>()
  app.addHook('preHandler', (request, _, done) => {
    const clock = { calls: 0, since: 0, waitedMs: 0 }
    clockOf.set(request, clock)
    clocks.run(clock, done)
  })
  app.addHook('onResponse', async (request, reply) => {
    const waitedMs = clockOf.get(request)?.waitedMs ?? Number.NaN
    if (request.method === 'POST' && reply.statusCode === 200)
      own.push(reply.elapsedTime - waitedMs)
  })
}

/** Times the calls to these addresses that belong to a request; those of the sweep meanwhile do not count. */
function watchCalls(addresses: readonly string[]): void {
  const original = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const clock = clocks.getStore()
    const url = input instanceof Request ? input.url : String(input)
    const isOutside = addresses.some((address) => url.startsWith(address))
    return clock && isOutside ? timed(clock, () => original(input, init)) : original(input, init)
  }
}

async function timed(clock: Clock, call: () => Promise<Response>): Promise<Response> {
  if (clock.calls === 0) clock.since = performance.now()
  clock.calls += 1
  try {
    const response = await call()
    // The wait includes the body; reading it again from memory costs almost nothing.
    const bytes = await response.arrayBuffer()
    return new Response(bytes.byteLength === 0 ? null : bytes, response)
  } finally {
    clock.calls -= 1
    if (clock.calls === 0) clock.waitedMs += performance.now() - clock.since
  }
}

type Name = 'store' | 'stock'

interface Turn {
  readonly perSecond: number
  /** CPU time of the server's process for one purchase; milliseconds. */
  readonly cpuMs: number
}

/** The speed of the machine varies, so both sell briefly in every round. */
async function manyAtOnce(parts: RealParts): Promise<Figure[]> {
  await using started = new AsyncDisposableStack()
  const start = async (does: Name) =>
    started.adopt(await startChild({ does, settings: await settingsOn(parts) }), (one) =>
      one.stop(),
    )
  const servers = { store: await start('store'), stock: await start('stock') }
  const accounts: PrivateKeyAccount[] = []
  while (accounts.length < buyers) accounts.push(await newAccount(parts))
  const turns: Record<Name, Turn[]> = { store: [], stock: [] }
  for (let round = 0; round <= rounds; round += 1) {
    const names: Name[] = round % 2 === 0 ? ['store', 'stock'] : ['stock', 'store']
    for (const name of names) {
      const turn = await turnOf(servers[name], accounts)
      // The first round warms up.
      if (round > 0) turns[name].push(turn)
    }
  }
  return figuresOf(turns)
}

async function turnOf(server: Child, accounts: readonly PrivateKeyAccount[]): Promise<Turn> {
  const { url, cpuMs } = server
  // Signed before the clock starts, because signing costs nearly as much CPU as the work that is measured.
  const payments = await Promise.all(
    accounts.map((account) => signMany(account, url, purchasesEach)),
  )
  const cpuBefore = await cpuMs()
  const startedAt = performance.now()
  await Promise.all(
    payments.map(async (own) => {
      for (const payment of own) await pay(url, payment)
    }),
  )
  const count = buyers * purchasesEach
  const seconds = (performance.now() - startedAt) / 1_000
  return { perSecond: count / seconds, cpuMs: ((await cpuMs()) - cpuBefore) / count }
}

function figuresOf(turns: Readonly<Record<Name, readonly Turn[]>>): Figure[] {
  const of = (name: Name, part: keyof Turn) => median(turns[name].map((turn) => turn[part]))
  const ratios = turns.store.map(
    ({ perSecond }, round) => perSecond / (turns.stock[round]?.perSecond ?? 0),
  )
  const atOnce = `Purchases with ${buyers} buyers at once, the whole store`
  return [
    figure(atOnce, of('store', 'perSecond'), '/s'),
    figure('The same, stock @x402/hono that records nothing', of('stock', 'perSecond'), '/s'),
    figure('The store against the stock middleware', median(ratios), 'times', { least: 1 }),
    figure('CPU of the process for a purchase, the store', of('store', 'cpuMs'), 'ms'),
    figure('CPU of the process for a purchase, stock @x402/hono', of('stock', 'cpuMs'), 'ms'),
  ]
}

/** A wallet with enough for 2,000 purchases of the test voucher. */
async function newAccount({ chain }: RealParts): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.faucet(account.address, 10_000_000_000n)
  return account
}

async function signMany(account: PrivateKeyAccount, url: string, count: number): Promise<string[]> {
  const { headers } = await post(url, path, body)
  const { accepts } = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
  const terms = accepts[0] as unknown as Accepts
  const signed = Array.from({ length: count }, () => signPayment(account, terms))
  return (await Promise.all(signed)).map(({ header }) => header)
}

async function pay(url: string, payment: string): Promise<void> {
  const answer = await post(url, path, body, { 'payment-signature': payment })
  if (answer.status !== 200)
    throw new Error(`A purchase was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
}
