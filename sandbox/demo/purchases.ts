import { randomInt, randomUUID } from 'node:crypto'
import { decodePaymentResponseHeader } from '@x402/fetch'
import { toString as drawQr } from 'qrcode'
import * as z from 'zod'
import type { Buyer, Terms } from './buyer.ts'
import { jsonPost, read, type Store, send } from './store.ts'

/** What a buyer needs to buy. */
export interface Demo {
  readonly store: Store
  readonly buyer: Buyer
  readonly say: (label: string, text: string) => void
  readonly wait: (seconds: number) => Promise<unknown>
}

/** One purchase and where its money went; amounts in atomic USDC. */
export interface Purchase {
  readonly offerId: string
  readonly orderId: string
  readonly state: 'FULFILLED' | 'REFUNDED'
  readonly paid: bigint
  /** From the chain, not from the store; 0 if it was delivered. */
  readonly refunded: bigint
}

const hash = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)])
const Order = z.object({
  transactionHash: hash.nullable(),
  orderId: z.string(),
  accessToken: z.string().optional(),
  orders: z.tuple([
    z.object({
      offerId: z.string(),
      state: z.string(),
      result: z.record(z.string(), z.unknown()).nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ]),
  refund_contract: z.object({ endpoint: z.string() }).nullable(),
})
type Order = z.infer<typeof Order>
const Refund = z.object({ state: z.string(), transactionHash: hash.nullable() })

/** Long enough for all test offers of the demo; a store that needs more has a problem. */
const maxFollowSeconds = 60

const underWay = new Set(['PAYMENT_PENDING', 'PAID', 'FULFILLING'])

/** The purchase path of each kind (the manifest lists the same). */
const paths = {
  voucher: '/api/catalog/vouchers/purchase/info',
  topup: '/api/catalog/topups/purchase/info',
  esim: '/api/catalog/esims/purchase/info',
} as const

const recipient = { firstName: 'Ada', lastName: 'Lovelace' }
/** New each time: a store asks about a phone that was topped up a moment ago. */
const newNumber = () => `+1201555${randomInt(1_000, 10_000)}`

type Kind = keyof typeof paths
const purchase = (
  title: string,
  kind: Kind,
  fields: { readonly offerId: string; readonly [field: string]: string | number | boolean },
  ends: Purchase['state'] = 'FULFILLED',
) => ({ title, kind, fields, ends })

/** The purchases of the demo: what it buys, and how each must end. */
export const purchases = [
  purchase('Buy a voucher with a fixed price', 'voucher', {
    ...{ offerId: 'TEST-VOUCHER-OK', ...recipient },
  }),
  purchase('Buy a voucher of a value you choose (0.35 USD)', 'voucher', {
    ...{ offerId: 'TEST-VOUCHER-OPEN', ...recipient, value: 0.35 },
  }),
  purchase('Top up a phone', 'topup', {
    ...{ offerId: 'TEST-TOPUP-OK', msisdn: newNumber() },
  }),
  purchase('Buy an eSIM, and show the QR code that installs it', 'esim', {
    offerId: 'TEST-ESIM-OK',
  }),
  purchase('Buy a voucher that takes 25 seconds, and poll its order', 'voucher', {
    ...{ offerId: 'TEST-VOUCHER-SLOW', ...recipient },
  }),
  purchase(
    'Top up a phone, be rejected by the carrier, and get the money back',
    'topup',
    { offerId: 'TEST-TOPUP-FAIL', msisdn: newNumber() },
    'REFUNDED',
  ),
]

/**
 * Buys with one call, whose 402 the client answers itself, and follows the order to its end.
 *
 * @throws Error if it ends in another way, or if the receipt, the goods or the refund is not what was paid for
 */
export async function buy(
  demo: Demo,
  { kind, fields, ends }: (typeof purchases)[number],
): Promise<Purchase> {
  const { say, store } = demo
  say('Sends', `POST ${paths[kind]} ${JSON.stringify(fields)}`)
  let terms: Terms | undefined
  const fetchPaid = demo.buyer.fetchPaid((found) => {
    terms = found
    say('Answer', `402, ${usdcText(found.amount)} USDC on ${found.network} to ${found.payTo}`)
  })
  const body = jsonPost(fields, { 'idempotency-key': `demo-${randomUUID()}` })
  const response = await send(store.url, paths[kind], body, fetchPaid)
  const first = await read(response, `POST ${paths[kind]}`, Order)
  if (!terms) throw new Error(`POST ${paths[kind]} answered ${first.status} without any payment.`)
  say('Answer', `${first.status}, order ${first.body.orderId} ${first.body.orders[0].state}`)
  checkReceipt(first.headers, first.body, terms)
  const { body: order } = await follow(
    demo,
    first.headers.get('location') ?? `/api/catalog/orders/${first.body.orderId}`,
    { first, shape: Order, isOver: ({ orders: [{ state }] }) => !underWay.has(state) },
    { authorization: `Bearer ${first.body.accessToken}` },
  )
  const [{ offerId, state, error }] = order.orders
  if (state !== (ends === 'FULFILLED' ? ends : 'FULFILLMENT_FAILED')) {
    throw new Error(`The order ${order.orderId} is ${state}: ${JSON.stringify(error)}.`)
  }
  say('Transaction', String(order.transactionHash))
  const refunded = ends === 'REFUNDED' ? await refundOf(demo, order, terms.amount) : 0n
  if (ends === 'FULFILLED') await showGoods(demo, order)
  return { offerId, orderId: order.orderId, state: ends, paid: terms.amount, refunded }
}

/** The receipt of a payment that is proven already must fit the order. */
function checkReceipt(headers: Headers, { transactionHash }: Order, { amount }: Terms): void {
  if (transactionHash === null) return
  const header = headers.get('payment-response')
  const receipt = header === null ? undefined : decodePaymentResponseHeader(header)
  const isWhole = receipt?.success && receipt.transaction === transactionHash
  if (isWhole && BigInt(receipt.amount ?? amount) === amount) return
  throw new Error(`PAYMENT-RESPONSE does not fit the order: ${JSON.stringify(receipt)}`)
}

interface Following<T> {
  readonly first?: { readonly headers: Headers; readonly body: T }
  readonly shape: z.ZodType<T>
  readonly isOver: (body: T) => boolean
}

/** Polls at the interval that the store names, until it is over. */
async function follow<T>(
  { store, say, wait }: Demo,
  path: string,
  { first, shape, isOver }: Following<T>,
  headers: Record<string, string> = {},
): Promise<{ readonly body: T }> {
  let seen = first ?? (await store.get(path, shape, headers))
  for (let waited = 0; !isOver(seen.body); ) {
    const pause = Number(seen.headers.get('retry-after')) || 1
    waited += pause
    if (waited > maxFollowSeconds) throw new Error(`${path} is still not over.`)
    await wait(pause)
    seen = await store.get(path, shape, headers)
    say('Polls', `after ${pause} s: GET ${path}`)
  }
  return seen
}

/** The refund of a failed purchase, from the chain; the store's word is not enough. */
async function refundOf(demo: Demo, order: Order, paid: bigint): Promise<bigint> {
  const [{ error }] = order.orders
  demo.say('Failed', `${error?.code}: ${error?.message}`)
  const path = order.refund_contract?.endpoint
  if (path === undefined) throw new Error(`The order ${order.orderId} names no refund.`)
  const isOver = ({ state }: z.infer<typeof Refund>) => state !== 'REFUND_PENDING'
  const { body } = await follow(demo, path, { shape: Refund, isOver })
  const { state, transactionHash } = body
  const refunded = transactionHash ? await demo.buyer.receivedIn(transactionHash) : 0n
  if (refunded !== paid) throw new Error(`The refund is ${state}, but ${refunded} came back.`)
  demo.say('Refund', `${usdcText(refunded)} USDC came back in ${transactionHash}`)
  return refunded
}

async function showGoods({ say }: Demo, { orderId, orders: [{ result }] }: Order): Promise<void> {
  const { code, redemptionUrl, confirmationNumber, iccid, lpa } = result ?? {}
  const goods = code ?? redemptionUrl ?? confirmationNumber ?? iccid
  if (typeof goods !== 'string') throw new Error(`The order ${orderId} has no goods.`)
  say('Goods', goods)
  if (typeof lpa !== 'string') return
  say('LPA', `${lpa}\n${await drawQr(lpa, { type: 'utf8', margin: 2 })}`)
}

/** Atomic USDC as people write it: "0.50", "999.123456". At least two decimals, never rounded. */
export function usdcText(atomic: bigint): string {
  const fraction = String(atomic % 1_000_000n).padStart(6, '0')
  return `${atomic / 1_000_000n}.${fraction.replace(/0{1,4}$/, '')}`
}
