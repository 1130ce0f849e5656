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
export async function formOf(store: Store, offerId: string): Promise<Record<string, string>> {
  const page = await (await fetch(`${store.url}/buy/${offerId}`)).text()
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, name, value]) => [name, value]))
}

/** Sends a form as a browser does that runs no script. */
export function sendForm(store: Store, path: string, form: Record<string, string>, cookie = '') {
  return fetch(`${store.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...fromAnywhere(),
      ...(cookie && { cookie }),
    },
    body: new URLSearchParams(form),
  })
}

/** Buys a test offer and chooses a coin: the checkout that waits for its payment. */
export async function choose(
  store: Store,
  coin: Coin,
  { kind = 'voucher', outcome = 'OK' }: { kind?: Kind; outcome?: string } = {},
): Promise<Paying> {
  const { offerId = '', ...fields } = bodyFor(kind, outcome) as Record<string, string>
  const refundTo = makeAddress(coin, 'person', randomUUID())
  const typed = { ...fields, pay: coin, [`refundTo-${coin}`]: refundTo }
  const answer = await sendForm(store, `/buy/${offerId}`, {
    ...(await formOf(store, offerId)),
    ...typed,
  })
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
