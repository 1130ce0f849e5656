import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { makeAddress } from '../btcpay/addresses.ts'
import { parseDecimal } from '../btcpay/amounts.ts'
import { coins } from '../btcpay/coins.ts'
import { type Store, send, storeAt } from './store.ts'

/** The only coin of the demo. */
export const coin = 'BTC'

/** A person at the page of a payment: what the page shows, and the cookies of their browser. */
export interface Paying {
  /** The id of the checkout: "chk_…". */
  readonly id: string
  readonly path: string
  readonly address: string
  /** The amount to pay, in the coin's smallest units. */
  readonly asked: bigint
  readonly refundTo: string
  readonly cookie: string
  /** The sandbox's BTCPay Server, to which the button of the page leads, and its invoice. */
  readonly processor: string
  readonly invoice: string
}

/** Fills in the form of an offer, chooses the coin, sends it, and reads the page to which it leads. */
export async function choose(
  store: Store,
  offerId: string,
  fields: Readonly<Record<string, string>>,
): Promise<Paying> {
  const page = `/buy/${offerId}`
  const hidden = hiddenFields((await look(store, page)).html)
  const refundTo = makeAddress(coin, 'demo', randomUUID())
  const typed = { ...hidden, ...fields, pay: coin, [`refundTo-${coin}`]: refundTo }
  const {
    status,
    location: path,
    cookies,
  } = await look(store, page, '', new URLSearchParams(typed))
  if (status !== 303 || path === undefined) {
    throw new Error(`The form of ${offerId} answered ${status}, and no page to pay on.`)
  }
  const [cookie = ''] = (cookies[0] ?? '').split(';')
  const shown = invoiceOn((await look(store, path, cookie)).html)
  return { id: path.slice('/pay/'.length), path, refundTo, cookie, ...shown }
}

/** Reads a page with the cookies of this browser. The result says where a redirect leads. */
export async function look(store: Store, path: string, cookie = '', form?: URLSearchParams) {
  const posted = form === undefined ? {} : { method: 'POST', body: form }
  const init = { redirect: 'manual', headers: { cookie }, ...posted } as const
  const answer = await send(store.url, path, init)
  const { status, headers } = answer
  const location = headers.get('location') ?? undefined
  return { status, location, cookies: headers.getSetCookie(), html: await answer.text() }
}

/** Presses a button of a page. */
export const press = (store: Store, path: string, cookie: string) =>
  look(store, path, cookie, new URLSearchParams())

/** Does to the invoice, at the sandbox's BTCPay Server, what a wallet or time would do. */
export async function atProcessor(
  { processor, invoice }: Paying,
  does: 'pay' | 'expire',
  how: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await storeAt(processor).post(`/sandbox/invoices/${invoice}/${does}`, z.object({}), how)
}

const Moves = z.array(z.object({ amount: z.string(), address: z.string() }))
const Chains = z.object({ [coin]: z.object({ incoming: Moves, outgoing: Moves }) })

/** The amounts that the invoice really received and that were returned, from the books of the chain. */
export async function movedFor({ processor, address, refundTo }: Paying) {
  const { body } = await storeAt(processor).get('/sandbox/ledger', Chains)
  const sum = (moves: z.infer<typeof Moves>, at: string) =>
    moves
      .filter((move) => move.address === at)
      .reduce((total, { amount }) => total + unitsIn(amount), 0n)
  const { incoming, outgoing } = body[coin]
  return { paid: sum(incoming, address), returned: sum(outgoing, refundTo) }
}

function unitsIn(amount: string): bigint {
  const units = parseDecimal(amount, coins[coin].decimals)
  if (units === undefined) throw new Error(`"${amount}" is no amount of ${coin}.`)
  return units
}

/** The hidden fields of the form, as a browser reads them. */
export function hiddenFields(html: string): Record<string, string> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries(
    [...fields].map(([, name = '', value = '']) => [name, value.replaceAll('&#34;', '"')]),
  )
}

/** @throws Error if the page does not show the amount and the address */
function invoiceOn(html: string) {
  const textOf = (id: string) => new RegExp(`<code[^>]* id="${id}">([^<]+)<`).exec(html)?.[1]
  const [amount, address] = [textOf('amount'), textOf('address')]
  const [, processor, invoice] = /href="(http:\/\/[^"/]+)\/i\/(\w+)"/.exec(html) ?? []
  if (!(amount && address && processor && invoice)) {
    throw new Error('The page of the payment shows no amount, address and sandbox to pay in.')
  }
  return { asked: unitsIn(amount), address, processor, invoice }
}
