import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { makeAddress } from '../btcpay/addresses.ts'
import { parseDecimal } from '../btcpay/amounts.ts'
import { coins } from '../btcpay/coins.ts'
import { jsonPost, read, type Store, unreachable } from './store.ts'

/** The one coin of the demo. */
export const coin = 'BTC'

/** A person at the page of a payment: what it shows, and what this browser keeps for it. */
export interface Paying {
  /** Of the checkout: "chk_…". */
  readonly id: string
  readonly path: string
  readonly address: string
  /** What is to be paid, in the coin's smallest unit. */
  readonly asked: bigint
  readonly refundTo: string
  readonly cookie: string
  /** The sandbox's BTCPay Server, where the button of the page leads, and its invoice. */
  readonly processor: string
  readonly invoice: string
}

/** A page as a browser without script has it. */
export interface Seen {
  readonly status: number
  readonly location: string | undefined
  /** Its heading; empty where there is none. */
  readonly heading: string
  readonly html: string
}

/** Fills in the form of an offer, chooses the coin, sends it, and looks at the page it leads to. */
export async function choose(
  store: Store,
  offerId: string,
  fields: Readonly<Record<string, string>>,
): Promise<Paying> {
  const page = `/buy/${offerId}`
  const hidden = hiddenFields((await look(store, page)).html)
  const refundTo = makeAddress(coin, 'demo', randomUUID())
  const typed = { ...hidden, ...fields, pay: coin, [`refundTo-${coin}`]: refundTo }
  const answer = await ask(store, page, { method: 'POST', body: new URLSearchParams(typed) })
  const path = answer.headers.get('location')
  if (answer.status !== 303 || path === null) {
    throw new Error(`The form of ${offerId} answered ${answer.status}, and no page to pay on.`)
  }
  const [cookie = ''] = (answer.headers.getSetCookie()[0] ?? '').split(';')
  const shown = invoiceOn((await look(store, path, cookie)).html)
  return { id: path.slice('/pay/'.length), path, refundTo, cookie, ...shown }
}

/** Reads a page with what this browser keeps for it. Where it leads elsewhere, that is told. */
export async function look(store: Store, path: string, cookie = ''): Promise<Seen> {
  return seenIn(await ask(store, path, { headers: { cookie } }))
}

/** Presses a button of a page. */
export async function press(store: Store, path: string, cookie: string): Promise<Seen> {
  const init = { method: 'POST', headers: { cookie }, body: new URLSearchParams() }
  return seenIn(await ask(store, path, init))
}

/** What a wallet, or time, does to the invoice at the sandbox's BTCPay Server. */
export async function atProcessor(
  { processor, invoice }: Paying,
  does: 'pay' | 'expire',
  how: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const path = `/sandbox/invoices/${invoice}/${does}`
  await read(await fetch(`${processor}${path}`, jsonPost(how)), `POST ${path}`, z.object({}))
}

const Moves = z.array(z.object({ amount: z.string(), address: z.string() }))
const Chains = z.object({ [coin]: z.object({ incoming: Moves, outgoing: Moves }) })

/** What really came to the invoice and went back, from the books of the chain. */
export async function movedFor({ processor, address, refundTo }: Paying) {
  const path = '/sandbox/ledger'
  const { body } = await read(await fetch(`${processor}${path}`), `GET ${path}`, Chains)
  const sum = (moves: z.infer<typeof Moves>, at: string) =>
    moves
      .filter((move) => move.address === at)
      .reduce((total, { amount }) => total + unitsIn(amount), 0n)
  const { incoming, outgoing } = body[coin]
  return { paid: sum(incoming, address), returned: sum(outgoing, refundTo) }
}

/** An amount of the coin in its smallest unit. */
export function unitsIn(amount: string): bigint {
  const units = parseDecimal(amount, coins[coin].decimals)
  if (units === undefined) throw new Error(`"${amount}" is no amount of ${coin}.`)
  return units
}

/** What the form hides, and sends along. */
export function hiddenFields(html: string): Record<string, string> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]))
}

/** @throws Error when the page does not show what is to be paid, and where */
export function invoiceOn(html: string) {
  const textOf = (id: string) => new RegExp(`<code[^>]* id="${id}">([^<]+)<`).exec(html)?.[1]
  const [amount, address] = [textOf('amount'), textOf('address')]
  const [, processor, invoice] = /href="(http:\/\/[^"/]+)\/i\/(\w+)"/.exec(html) ?? []
  if (!(amount && address && processor && invoice)) {
    throw new Error('The page of the payment shows no amount, address and sandbox to pay in.')
  }
  return { asked: unitsIn(amount), address, processor, invoice }
}

async function seenIn(answer: Response): Promise<Seen> {
  const { status, headers } = answer
  const html = await answer.text()
  const [, heading = ''] = /<h1[^>]*>([^<]*)</.exec(html) ?? []
  return { status, location: headers.get('location') ?? undefined, heading, html }
}

async function ask({ url }: Store, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, { redirect: 'manual', ...init })
  } catch (error) {
    throw unreachable(url, error)
  }
}
