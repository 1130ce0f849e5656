import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { makeAddress } from '../../sandbox/btcpay/addresses.ts'
import { newBuyer } from '../../sandbox/demo/buyer.ts'
import { hiddenFields, look, press } from '../../sandbox/demo/person.ts'
import { buy, type Demo, purchases } from '../../sandbox/demo/purchases.ts'
import { storeAt } from '../../sandbox/demo/store.ts'
import { query } from '../../test/harness/query.ts'
import { type Parts, recordOf } from './parts.ts'

/** One of each kind, and one that fails and is refunded. */
const wanted = ['TEST-VOUCHER-OK', 'TEST-TOPUP-OK', 'TEST-ESIM-OK', 'TEST-TOPUP-FAIL']
const maxFollowSeconds = 60

/** An agent buys with its own wallet; each purchase is checked on the chain. */
export async function agentBuys({ chain, publicUrl }: Parts): Promise<readonly string[]> {
  const buyer = newBuyer(chain)
  await chain.faucet(buyer.address)
  const demo: Demo = {
    store: storeAt(publicUrl),
    buyer,
    say: () => {},
    wait: (seconds) => delay(seconds * 1_000),
  }
  const bought: string[] = []
  for (const purchase of purchases.filter(({ fields }) => wanted.includes(fields.offerId))) {
    const before = await buyer.balance()
    // It buys the same again after the database was lost, for the same number.
    const fields = { ...purchase.fields, confirmAnother: true }
    const { offerId, state, paid, refunded } = await buy(demo, { ...purchase, fields })
    const spent = before - (await buyer.balance())
    if (spent !== paid - refunded) throw new Error(`${purchase.title}: the wallet paid ${spent}`)
    bought.push(`${offerId} ${state}`)
  }
  return bought
}

interface Errand {
  readonly offerId: string
  readonly coin: 'BTC' | 'LTC'
  /** The fields of the form, except the coin. */
  readonly fields: Readonly<Record<string, string>>
  readonly ends: 'FULFILLED' | 'REFUNDED'
}

/** Neither is one that the demo tops up. */
const numbers = ['+12025550123', '+12025550124'] as const
const errands: readonly Errand[] = [
  {
    offerId: 'TEST-VOUCHER-OK',
    coin: 'BTC',
    fields: { firstName: 'Ada', lastName: 'Lovelace' },
    ends: 'FULFILLED',
  },
  { offerId: 'TEST-TOPUP-OK', coin: 'LTC', fields: { msisdn: numbers[0] }, ends: 'FULFILLED' },
  { offerId: 'TEST-ESIM-OK', coin: 'BTC', fields: {}, ends: 'FULFILLED' },
  { offerId: 'TEST-TOPUP-FAIL', coin: 'LTC', fields: { msisdn: numbers[1] }, ends: 'REFUNDED' },
]

/** A person buys on the website, without script: one of each kind, and one that fails and is refunded. */
export async function personBuys(parts: Parts): Promise<readonly string[]> {
  const bought: string[] = []
  for (const errand of errands) {
    await payInCoin(parts, errand)
    bought.push(`${errand.coin}: ${errand.offerId} ${errand.ends}`)
  }
  return bought
}

/** Sends the form of the offer, pays the invoice, and follows the order until it has goods or a refund. */
async function payInCoin(parts: Parts, { offerId, coin, fields, ends }: Errand): Promise<void> {
  const { publicUrl } = parts
  const store = storeAt(publicUrl)
  const form = `/buy/${offerId}`
  const hidden = hiddenFields((await look(store, form)).html)
  const refundTo = makeAddress(coin, 'person', `${publicUrl}${offerId}`)
  const answer = await fetch(`${publicUrl}${form}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ ...hidden, ...fields, pay: coin, [`refundTo-${coin}`]: refundTo }),
  })
  const page = answer.headers.get('location') ?? ''
  const [cookie = ''] = (answer.headers.getSetCookie()[0] ?? '').split(';')
  await payInvoice(parts, page.slice('/pay/'.length))
  const isPaid = async () => (await look(store, page, cookie)).status === 303
  await until(isPaid, `${page} leads to no order`)
  if (ends === 'REFUNDED') {
    await until(() => cameBack(parts, coin, refundTo), `Nothing came back to ${refundTo}`)
    return
  }
  const { location: order = '' } = await look(store, page, cookie)
  const isDelivered = async () => (await look(store, order, cookie)).html.includes(`${order}/goods`)
  await until(isDelivered, `${order} has no goods`)
  const goods = await press(store, `${order}/goods`, cookie)
  if (goods.status !== 200) throw new Error(`The goods of ${order} answered ${goods.status}`)
}

async function payInvoice(parts: Parts, checkout: string): Promise<void> {
  const invoice = `select doc->'invoice'->>'id' as id from checkouts where id = $1`
  const [row] = await query(recordOf(parts), invoice, [checkout])
  await fetch(`${parts.btcpay.url}/sandbox/invoices/${row?.['id']}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
}

const Ledger = z.record(
  z.string(),
  z.object({ outgoing: z.array(z.object({ address: z.string() })) }),
)

/** Whether the chain of the coin has a payment of the store to the address. */
async function cameBack({ btcpay }: Parts, coin: string, address: string): Promise<boolean> {
  const answer = await fetch(`${btcpay.url}/sandbox/ledger`)
  const { outgoing } = Ledger.parse(await answer.json())[coin] ?? { outgoing: [] }
  return outgoing.some((sent) => sent.address === address)
}

async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  for (let waited = 0; waited < maxFollowSeconds; waited += 1) {
    if (await isSo()) return
    await delay(1_000)
  }
  throw new Error(`${otherwise} after ${maxFollowSeconds} s`)
}
