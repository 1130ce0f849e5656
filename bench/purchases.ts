import { decodePaymentRequiredHeader } from '@x402/core/http'
import type { FastifyRequest } from 'fastify'
import type { PrivateKeyAccount } from 'viem/accounts'
import { type NodeSettings, startNode } from '../test/harness/node.ts'
import { type Accepts, signPayment } from '../test/harness/payer.ts'
import { bodyFor, post, purchasePath } from '../test/stories/requests.ts'
import { type Child, startChild } from './child.ts'
import { type OutsideClock, watchOutside } from './outside.ts'
import { type Parts, settingsOf, startParts } from './parts.ts'
import type { Seller } from './seller.ts'
import { type Figure, figure, median, quantile, timesOf } from './table.ts'

const path = purchasePath('voucher')
const body = bodyFor('voucher', 'OK')
const warmUp = 30
const purchases = 150
const buyers = 8
const rounds = 5
const purchasesEach = 15

/** One purchase after the other, and many at once beside the stock middleware of x402. */
export async function measurePurchases(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    return [...(await oneByOne(parts)), ...(await manyAtOnce(parts))]
  } finally {
    await parts.stop()
  }
}

async function oneByOne(parts: Parts): Promise<Figure[]> {
  const settings = await settingsOf(parts)
  const own: number[] = []
  const stop = await startWatched(parts, settings, own)
  try {
    const payments = await signMany(await parts.newAccount(), settings.url, purchases + warmUp)
    const times = await timesOf(payments, (payment) => pay(settings.url, payment))
    const prices = await timesOf(Array(purchases), () => post(settings.url, path, body))
    return [
      figure('A purchase, the own part of the store, p50', median(own.slice(warmUp)), 'ms', {
        most: 10,
      }),
      figure('A purchase, the own part of the store, p95', quantile(own.slice(warmUp), 0.95), 'ms'),
      figure('A purchase from request to goods, p50', median(times.slice(warmUp)), 'ms'),
      figure('The unpaid call that names the price, p50', median(prices), 'ms'),
    ]
  } finally {
    await stop()
  }
}

/** Starts a store that adds to `own` the time of each purchase without its waits for chain and supplier. */
async function startWatched(
  { chain, supplierUrl }: Parts,
  settings: NodeSettings,
  own: number[],
): Promise<() => Promise<void>> {
  const outside = watchOutside([chain.rpcUrl, supplierUrl])
  const clocks = new WeakMap<FastifyRequest, OutsideClock>()
  const ignoreLog = () => undefined
  const service = await startNode(settings, ignoreLog, (app) => {
    app.addHook('preHandler', (request, _, done) => {
      outside.clocked((clock) => {
        clocks.set(request, clock)
        done()
      })
    })
    app.addHook('onResponse', async (request, reply) => {
      const waited = clocks.get(request)?.waited() ?? Number.NaN
      if (request.method === 'POST' && reply.statusCode === 200)
        own.push(reply.elapsedTime - waited)
    })
  })
  return service.stop
}

const sellers = ['store', 'stock'] as const
type Name = (typeof sellers)[number]

interface Turn {
  readonly perSecond: number
  /** CPU time of the server's process for one purchase; milliseconds. */
  readonly cpuMs: number
}

async function manyAtOnce(parts: Parts): Promise<Figure[]> {
  const started: Child<{ readonly url: string }>[] = []
  try {
    const start = async (kind: Name) => {
      const input: Seller = { kind, settings: await settingsOf(parts) }
      const child = await startChild<{ readonly url: string }>('seller.ts', input)
      started.push(child)
      return child
    }
    const servers = { store: await start('store'), stock: await start('stock') }
    const accounts: PrivateKeyAccount[] = []
    while (accounts.length < buyers) accounts.push(await parts.newAccount())
    return figuresOf(await sellInTurn(servers, accounts))
  } finally {
    await Promise.all(started.map((child) => child.stop()))
  }
}

/** The speed of the machine varies, so both sell briefly in every round. The first round warms up. */
async function sellInTurn(
  servers: Readonly<Record<Name, Child<{ readonly url: string }>>>,
  accounts: readonly PrivateKeyAccount[],
): Promise<Readonly<Record<Name, readonly Turn[]>>> {
  const turns: Record<Name, Turn[]> = { store: [], stock: [] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? sellers : sellers.toReversed())
      turns[name].push(await turnOf(servers[name], accounts))
  }
  return { store: turns.store.slice(1), stock: turns.stock.slice(1) }
}

async function turnOf(
  { told, cpuMs }: Child<{ readonly url: string }>,
  accounts: readonly PrivateKeyAccount[],
): Promise<Turn> {
  const { url } = told
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
  return [
    figure(
      `Purchases with ${buyers} buyers at once, the whole store`,
      of('store', 'perSecond'),
      '/s',
    ),
    figure('The same, stock @x402/hono that records nothing', of('stock', 'perSecond'), '/s'),
    figure('The store against the stock middleware', median(ratios), 'times', { least: 1 }),
    figure('CPU of the process for a purchase, the store', of('store', 'cpuMs'), 'ms'),
    figure('CPU of the process for a purchase, stock @x402/hono', of('stock', 'cpuMs'), 'ms'),
  ]
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
