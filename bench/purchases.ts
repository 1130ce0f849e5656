import { setTimeout as delay } from 'node:timers/promises'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Accepts, signPayment } from '../test/harness/payer.ts'
import { startProxy } from '../test/harness/proxy.ts'
import { settingsOn, startRealParts } from '../test/harness/real-parts.ts'
import { bodyFor, post, purchasePath } from '../test/stories/requests.ts'
import { type Server, startServer } from './http.ts'
import { type Figure, figure, median, timesOf } from './table.ts'

const path = purchasePath('voucher')
const body = { ...bodyFor('voucher', 'OK'), confirmAnother: true }
const buyers = 8
const rounds = 5
const purchasesEach = 15
const alone = 60
/** Longer than the supplier takes to deliver; milliseconds. */
const deliveredMs = 15

type Name = 'store' | 'stock'

/** One purchase after the other, and many at once, in turn with the stock middleware of x402. */
export async function measurePurchases(): Promise<Figure[]> {
  await using started = new AsyncDisposableStack()
  const parts = started.adopt(await startRealParts({ offers: 60, stepMs: 1 }), (one) => one.stop())
  const proxy = started.adopt(await startProxy(parts.supplierUrl), (one) => one.close())
  // The first look finds the goods, so that no pause between two looks is measured.
  proxy.breakCalls((call) =>
    /^GET .*purchases\//.test(call) ? delay(deliveredMs, 'none') : 'none',
  )
  const proxied = { ...parts, supplierUrl: proxy.url }
  const start = async (does: Name) =>
    started.adopt(await startServer({ does, settings: await settingsOn(proxied) }), (one) =>
      one.stop(),
    )
  const servers = { store: await start('store'), stock: await start('stock') }
  const accounts = Array.from({ length: buyers }, () => privateKeyToAccount(generatePrivateKey()))
  for (const { address } of accounts) await parts.chain.faucet(address, 10_000_000_000n)
  const turns = { store: [] as Turn[], stock: [] as Turn[] }
  // The speed of the machine varies, so both sell briefly in every round. The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const names: Name[] = round % 2 === 0 ? ['store', 'stock'] : ['stock', 'store']
    for (const name of names) {
      const turn = await turnOf(servers[name], accounts)
      if (round > 0) turns[name].push(turn)
    }
  }
  return [...(await aloneAt(servers.store, accounts[0] as PrivateKeyAccount)), ...figuresOf(turns)]
}

async function aloneAt({ url }: Server, account: PrivateKeyAccount): Promise<Figure[]> {
  const times = await timesOf(await signMany(account, url, alone), (payment) => pay(url, payment))
  return [figure('A purchase from request to goods, p50', median(times), 'ms')]
}

interface Turn {
  readonly perSecond: number
  /** CPU time of the server's process for one purchase; milliseconds. */
  readonly cpuMs: number
}

async function turnOf(server: Server, accounts: readonly PrivateKeyAccount[]): Promise<Turn> {
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
    figure('CPU of a purchase, the store', of('store', 'cpuMs'), 'ms'),
    figure('CPU of a purchase, stock @x402/hono', of('stock', 'cpuMs'), 'ms'),
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
