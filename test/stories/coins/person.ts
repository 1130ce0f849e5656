import { randomUUID } from 'node:crypto'
import { makeAddress } from '../../../sandbox/btcpay/addresses.ts'
import type { Coin } from '../../../src/payments/coins.ts'
import { bodyFor, eventually, fromAnywhere, type Kind } from '../requests.ts'
import type { Store } from '../store.ts'

export interface Paying {
  readonly id: string
  readonly orderId: string
  /** What the browser sends along, by the path that it was given for. */
  readonly cookie: string
  readonly invoice: string
  /** Where money goes back to; nobody else has given it. */
  readonly refundTo: string
  /** What the invoice asks for, in the coin's smallest unit. */
  readonly units: bigint
}

/** The form of an offer as a browser has it, with what it hides. */
export async function formOf(
  store: Pick<Store, 'url'>,
  offerId: string,
): Promise<Record<string, string>> {
  const page = await (await fetch(`${store.url}/buy/${offerId}`)).text()
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return Object.fromEntries(
    hidden.map(([, name, value = '']) => [name, value.replaceAll('&#34;', '"')]),
  )
}

interface Visitor {
  readonly cookie?: string
  /** Where they come from; everybody comes from somewhere else. */
  readonly from?: string | undefined
}

/** Sends a form as a browser does that runs no script. */
export function sendForm(
  store: Pick<Store, 'url'>,
  path: string,
  form: Record<string, string>,
  { cookie = '', from }: Visitor = {},
) {
  return fetch(`${store.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(from === undefined ? fromAnywhere() : { 'x-forwarded-for': from }),
      ...(cookie && { cookie }),
    },
    body: new URLSearchParams(form),
  })
}

/** Buys a test offer and chooses a coin: the checkout that waits for its payment. */
export async function choose(store: Store, coin: Coin, choice: Choice = {}): Promise<Paying> {
  const { answer, refundTo } = await sendChoice(store, coin, choice)
  if (answer.status !== 303) throw new Error(`${answer.status}: ${await answer.text()}`)
  const id = answer.headers.get('location')?.slice('/pay/'.length) ?? ''
  const [cookie = ''] = (answer.headers.getSetCookie()[0] ?? '').split(';')
  const { doc, order_id: orderId } = await eventually(
    () => rowOf(store, id),
    (row) => row.state === 'OPEN',
  )
  const { id: invoice, units } = doc.invoice
  return { id, orderId, cookie, invoice, refundTo, units: BigInt(units.$bigint) }
}

interface Choice {
  readonly kind?: Kind
  readonly outcome?: string
  readonly from?: string
  /** Where money goes back to, if not to a new address. */
  readonly refundTo?: string
}

/** Sends the form of a test offer with a coin; the answer, whatever it is. */
export async function sendChoice(
  store: Pick<Store, 'url'>,
  coin: Coin,
  {
    kind = 'voucher',
    outcome = 'OK',
    from,
    refundTo = makeAddress(coin, 'person', randomUUID()),
  }: Choice = {},
) {
  const { offerId = '', ...fields } = bodyFor(kind, outcome) as Record<string, string>
  const typed = { ...fields, pay: coin, [`refundTo-${coin}`]: refundTo }
  const form = { ...(await formOf(store, offerId)), ...typed }
  return { answer: await sendForm(store, `/buy/${offerId}`, form, { from }), refundTo }
}

/** The checkout as it is on record. */
export async function rowOf(store: Store, id: string) {
  const [row] = await store.query('select * from checkouts where id = $1', [id])
  return row
}

interface Moved {
  readonly amount: string
  readonly address: string
}

/** What the store's BTCPay Server has received and sent, by coin. */
export async function ledgerOf(
  store: Store,
): Promise<
  Record<Coin, { readonly incoming: readonly Moved[]; readonly outgoing: readonly Moved[] }>
> {
  return (await fetch(`${store.settings.processor?.url}/sandbox/ledger`)).json() as never
}
