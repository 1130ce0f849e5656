import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs, styleText } from 'node:util'
import * as z from 'zod'
import { formatDecimal } from '../btcpay/amounts.ts'
import { coins } from '../btcpay/coins.ts'
import { newBuyer } from './buyer.ts'
import { atProcessor, choose, coin, look, movedFor, type Paying, press } from './person.ts'
import { buy, type Demo, type Purchase, purchases, usdcText } from './purchases.ts'
import { storeAt } from './store.ts'

const usage = `Plays a buyer against a running sandbox store: buys, polls, and gets refunds.

  npm run demo -- [--store URL]

  --store URL   the store (default: STORE_URL, else http://localhost:8402)
  --help        this text

Exits with 0 when every step went well and the wallet's balance adds up, else with 1.`

const address = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{40}$/)])
const Manifest = z.object({ name: z.string(), signals: z.object({ agent_action: z.string() }) })
const Sandbox = z.object({ rpcUrl: z.url(), usdc: address })
const Search = z.object({
  total: z.number(),
  items: z.tuple([z.object({ buy_url: z.url() })], z.unknown()),
})

const maxFollowSeconds = 60
const person = { firstName: 'Ada', lastName: 'Lovelace' }
const say = (label: string, text: string) =>
  console.log(`     ${styleText('dim', label.padEnd(12))} ${text}`)
const title = (text: string) => console.log(`\n${styleText('bold', text)}`)
const coinText = (units: bigint) => `${formatDecimal(units, coins[coin].decimals)} ${coin}`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { store: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  if (values.help) return console.log(usage)
  const url = URL.parse(values.store ?? (process.env['STORE_URL'] || 'http://localhost:8402'))
  if (!/^https?:$/.test(url?.protocol ?? ''))
    throw new Error('--store must be an http or https URL')
  const demo = await meet(String(url).replace(/\/+$/, ''))
  const start = await demo.buyer.balance()
  const bought: Purchase[] = []
  for (const purchase of purchases) {
    title(purchase.title)
    bought.push(await buy(demo, purchase))
    const spent = bought.reduce((sum, { paid, refunded }) => sum + paid - refunded, 0n)
    await checkBalance(demo, start - spent)
  }
  title('Pay in BTC as a person does on the website, and get back what was too little')
  await payInFull(demo)
  await payTooLittle(demo)
  title('It adds up.')
  for (const { offerId, orderId, state, paid } of bought) {
    say(state, `${orderId} ${offerId}, ${usdcText(paid)} USDC`)
  }
}

/** Finds the store, makes a wallet on its chain, and fills it. Only a sandbox gives test money. */
async function meet(url: string): Promise<Demo> {
  title('Meet the store, fill an empty wallet, and search')
  const store = storeAt(url)
  const { name, signals } = (await store.get('/.well-known/x402', Manifest)).body
  if (signals.agent_action === 'stop') throw new Error(`${name} asks agents to stop.`)
  const sandbox = await store.get('/sandbox', Sandbox).catch((cause: unknown) => {
    const message = `${url} is not a sandbox, and this demo plays with test money only: npm start`
    throw new Error(message, { cause })
  })
  const buyer = newBuyer(sandbox.body)
  say('Store', `${name} at ${url}`)
  say('Buyer', `${buyer.address}, a wallet made for this run: no account, no API key`)
  await store.post('/sandbox/faucet', z.object({}), { address: buyer.address })
  say('Faucet', `${usdcText(await buyer.balance())} USDC of test money, worth nothing elsewhere`)
  const path = '/ai/vouchers?search=netflix&country=US&limit=2'
  const { total, items } = (await store.get(path, Search)).body
  say('Search', `GET ${path}: ${total} offers, among them ${items[0].buy_url}`)
  return { store, buyer, say, wait: (seconds) => sleep(seconds * 1_000) }
}

async function checkBalance({ buyer }: Demo, expected: bigint): Promise<void> {
  const balance = await buyer.balance()
  say('Wallet', `${usdcText(balance)} USDC`)
  if (balance === expected) return
  throw new Error(`The wallet has ${usdcText(balance)} USDC, and not ${usdcText(expected)}.`)
}

async function payInFull(demo: Demo): Promise<void> {
  const paying = await begin(demo, 'TEST-VOUCHER-OK')
  await atProcessor(paying, 'pay')
  const order = await until(`${paying.path} leads to no order`, async () => {
    return (await look(demo.store, paying.path, paying.cookie)).location
  })
  const goods = await until(`${order} has no goods`, async () => {
    const { html } = await look(demo.store, order, paying.cookie)
    return html.includes(`${order}/goods`)
      ? press(demo.store, `${order}/goods`, paying.cookie)
      : undefined
  })
  if (goods.status !== 200) throw new Error(`The goods of ${order} answered ${goods.status}.`)
  say('Button', `POST ${order}/goods shows the code`)
  const { paid, returned } = await movedFor(paying)
  if (paid === 0n || returned > 0n) throw new Error(`Of ${coinText(paid)} ${returned} came back.`)
}

/** Pays most of the price, and lets the invoice expire. The store would keep less than 0.50 USDC. */
async function payTooLittle(demo: Demo): Promise<void> {
  const paying = await begin(demo, 'TEST-VOUCHER-LOST')
  const most = formatDecimal((paying.asked * 4n) / 5n, coins[coin].decimals)
  await atProcessor(paying, 'pay', { amount: most })
  await atProcessor(paying, 'expire')
  const { paid, returned } = await until(`Nothing of ${paying.id} came back`, async () => {
    const moved = await movedFor(paying)
    return moved.returned > 0n ? moved : undefined
  })
  if (paid !== returned)
    throw new Error(`Of ${coinText(paid)} only ${coinText(returned)} came back.`)
  say('Returned', `${coinText(returned)}, everything that was paid too little`)
}

async function begin({ store }: Demo, offerId: string): Promise<Paying> {
  const paying = await choose(store, offerId, person)
  say('Form', `POST /buy/${offerId} leads to ${paying.path}`)
  say('To pay', `${coinText(paying.asked)} to ${paying.address}`)
  return paying
}

async function until<T>(otherwise: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let waited = 0; waited < maxFollowSeconds; waited += 1) {
    const seen = await look()
    if (seen !== undefined) return seen
    await sleep(1_000)
  }
  throw new Error(`${otherwise} after ${maxFollowSeconds} s.`)
}

main().catch((error: unknown) => {
  // Libraries add long reports after the first line, on which a user can act.
  console.error(
    `\n${styleText('red', '✗')}  ${String(error instanceof Error ? error.message : error).split('\n')[0]}\n`,
  )
  process.exitCode = 1
})
