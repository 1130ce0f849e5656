import { randomUUID } from 'node:crypto'
import { decodePaymentResponseHeader } from '@x402/fetch'
import { Order } from './answers.ts'
import type { Asked } from './buyer.ts'
import type { Demo } from './demo.ts'
import { usdcText } from './money.ts'
import type { Teller } from './print.ts'
import { jsonPost, read, unreachable } from './store.ts'

/** Long enough for all test offers of the demo; a store that needs more has a problem. */
const maxFollowSeconds = 60

/** The purchase path of each kind (the manifest lists the same). */
const purchasePaths = {
  voucher: '/api/catalog/vouchers/purchase/info',
  topup: '/api/catalog/topups/purchase/info',
  esim: '/api/catalog/esims/purchase/info',
} as const

type Kind = keyof typeof purchasePaths
type Receipt = ReturnType<typeof decodePaymentResponseHeader>

/** An order as the demo last saw it. */
export interface Bought {
  readonly order: Order
  /** The price of the 402, in atomic USDC. */
  readonly paid: bigint
  /** 200 with the goods, or 202 before they are delivered. */
  readonly status: number
  readonly seconds: number
  /** How many times the order was read since. */
  readonly polls: number
  readonly receipt: Receipt | undefined
  readonly accessToken: string
  readonly location: string
  readonly retryAfterSeconds: number
}

/**
 * Buys with one call: the client answers the 402 itself. The wallet pays exactly what the 402 asks for, and the store
 * proves it with PAYMENT-RESPONSE.
 */
export async function buy(
  demo: Demo,
  kind: Kind,
  fields: Readonly<Record<string, unknown>>,
): Promise<Bought> {
  const { store, tell } = demo
  const path = purchasePaths[kind]
  tell.fact('Asks', `POST ${path}`)
  tell.fact('', JSON.stringify(fields))
  const begun = performance.now()
  let asked: Asked | undefined
  const response = await demo.buyer
    .fetchPaid(
      `${store.url}${path}`,
      jsonPost(fields, { 'idempotency-key': `demo-${randomUUID()}` }),
      (terms) => {
        asked = terms
        const price = `${usdcText(terms.amount)} USDC on ${terms.network} to ${terms.payTo}`
        tell.fact('Answer', `402 Payment Required: ${price}`)
      },
    )
    .catch((error: unknown) => {
      throw unreachable(store.url, error)
    })
  const { status, headers, body: order } = await read(response, `POST ${path}`, Order)
  if (asked === undefined) throw new Error(`POST ${path} answered ${status} without any payment.`)
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  tell.fact('Answer', `${status} after ${seconds} s, order ${order.orderId} ${stateOf(order)}`)
  return {
    order,
    paid: asked.amount,
    status,
    seconds,
    polls: 0,
    receipt: receiptOf(headers, order, asked),
    accessToken: order.accessToken ?? missing('accessToken in the first answer'),
    location: headers.get('location') ?? `/api/catalog/orders/${order.orderId}`,
    retryAfterSeconds: retryAfterOf(headers, demo),
  }
}

/** Polls the order at the interval that the store asks for, until it has ended. */
export async function follow(demo: Demo, bought: Bought): Promise<Bought> {
  let current = bought
  for (let waited = 0; isUnderWay(current.order); ) {
    const pause = current.retryAfterSeconds
    waited += pause
    if (waited > maxFollowSeconds) {
      throw new Error(`The order ${current.order.orderId} is still ${stateOf(current.order)}.`)
    }
    await demo.wait(pause)
    current = await look(demo, current)
    demo.tell.note(`after ${pause} s more: GET ${current.location} says ${stateOf(current.order)}`)
  }
  return current
}

/** Prints where the money went, by the chain and by the store. */
export function tellPayment(tell: Teller, { order, receipt }: Bought): void {
  tell.fact('Transaction', order.transactionHash ?? 'not proven yet')
  if (receipt === undefined) return
  const { success, network, payer, amount } = receipt
  const paid = amount === undefined ? '' : `, ${usdcText(BigInt(amount))} USDC`
  const from = payer === undefined ? '' : ` from ${payer}`
  tell.fact('Receipt', `PAYMENT-RESPONSE: success ${success}${paid}${from} on ${network}`)
}

/** @throws Error unless the order is delivered and its goods are shown */
export function goodsOf({ orders: [item], orderId }: Order): Readonly<Record<string, unknown>> {
  if (item.state === 'FULFILLED' && item.result !== null) return item.result
  const why = item.error ? `: ${item.error.code}, ${item.error.message}` : ''
  throw new Error(
    `The order ${orderId} should be FULFILLED with goods, but is ${item.state}${why}.`,
  )
}

export function stateOf({ orders: [item] }: Order): string {
  return item.state
}

/** The polling interval in seconds: from the answer, else from the manifest. */
export function retryAfterOf(headers: Headers, { manifest }: Pick<Demo, 'manifest'>): number {
  const said = Number(headers.get('retry-after') ?? Number.NaN)
  return said > 0 ? said : manifest.fulfillment_policy.retry_after_seconds
}

async function look(demo: Demo, bought: Bought): Promise<Bought> {
  const { headers, body } = await demo.store.get(bought.location, Order, {
    authorization: `Bearer ${bought.accessToken}`,
  })
  const retryAfterSeconds = retryAfterOf(headers, demo)
  return { ...bought, order: body, polls: bought.polls + 1, retryAfterSeconds }
}

function isUnderWay({ orders: [{ state }] }: Order): boolean {
  return state === 'PAYMENT_PENDING' || state === 'PAID' || state === 'FULFILLING'
}

/** The receipt of a proven payment; undefined while the payment is not proven yet. */
function receiptOf(headers: Headers, order: Order, { amount }: Asked): Receipt | undefined {
  const header = headers.get('payment-response')
  if (order.transactionHash === null) return undefined
  const receipt = decodePaymentResponseHeader(header ?? missing('the PAYMENT-RESPONSE header'))
  const fits = receipt.success && receipt.transaction === order.transactionHash
  if (fits && (receipt.amount === undefined || BigInt(receipt.amount) === amount)) return receipt
  throw new Error(`PAYMENT-RESPONSE does not fit the order: ${JSON.stringify(receipt)}`)
}

function missing(what: string): never {
  throw new Error(`The store's answer lacks ${what}.`)
}
