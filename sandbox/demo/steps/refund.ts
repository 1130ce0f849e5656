import { isAddressEqual } from 'viem'
import { Refund } from '../answers.ts'
import type { Transfer } from '../buyer.ts'
import type { Demo, Step } from '../demo.ts'
import { usdcText } from '../money.ts'
import { type Bought, buy, follow, retryAfterOf, stateOf, tellPayment } from '../order.ts'

/** A refund is one transaction. It is promised within 24 hours and usually takes seconds. */
const maxRefundSeconds = 60

/** A purchase that fails: nothing is delivered, and the money is refunded automatically. */
export const rejectedTopup: Step = {
  name: 'refund',
  title: 'Top up a phone, be rejected by the carrier, and get the money back',
  async run(demo) {
    const { buyer, tell } = demo
    const before = await buyer.balance()
    const fields = { offerId: 'TEST-TOPUP-FAIL', msisdn: '+12015550123' }
    const bought = await follow(demo, await buy(demo, 'topup', fields))
    const { order, paid } = bought
    const [{ offerId, error }] = order.orders
    if (stateOf(order) !== 'FULFILLMENT_FAILED') {
      throw new Error(`The order ${order.orderId} should have failed, but is ${stateOf(order)}.`)
    }
    tellPayment(tell, bought)
    const between = await balanceWhilePaid(demo, bought, before)
    tell.fact('Failed', `${error?.code}: ${error?.message}`)
    const refund = await awaitRefund(demo, bought)
    const transfer = await transferOf(demo, refund, paid)
    tell.fact('Back in', transfer.transaction)
    tell.fact('Transfer', `${usdcText(transfer.value)} USDC from ${transfer.from} to this wallet`)
    return {
      change: 0n,
      purchase: {
        offerId,
        orderId: order.orderId,
        state: 'REFUNDED',
        paid,
        refunded: transfer.value,
      },
      data: {
        offerId,
        orderId: order.orderId,
        state: stateOf(order),
        failure: error,
        firstStatus: bought.status,
        firstSeconds: bought.seconds,
        paidUsdc: usdcText(paid),
        transactionHash: order.transactionHash,
        usdcWhilePaid: usdcText(between),
        paymentResponse: bought.receipt ?? null,
        refund: {
          refundId: refund.refundId,
          state: refund.state,
          transactionHash: transfer.transaction,
          refundedUsdc: usdcText(transfer.value),
          from: transfer.from,
          to: transfer.to,
        },
      },
    }
  },
}

/** The balance on the chain right after this purchase was paid, which shows that the money was really taken. */
async function balanceWhilePaid(
  { buyer, tell }: Demo,
  { order, paid }: Bought,
  before: bigint,
): Promise<bigint> {
  if (order.transactionHash === null) throw new Error('A failed order should have been paid.')
  const held = await buyer.balanceAfter(order.transactionHash)
  tell.fact('Wallet', `${usdcText(before)} → ${usdcText(held)} USDC`)
  if (held === before - paid) return held
  throw new Error(`The wallet should have paid ${usdcText(paid)} USDC, but held ${usdcText(held)}.`)
}

/** Polls the refund at the URL that the order names. */
export async function awaitRefund(demo: Demo, { order }: Pick<Bought, 'order'>): Promise<Refund> {
  const path = order.refund_contract?.endpoint
  if (path === undefined) throw new Error(`The order ${order.orderId} names no refund.`)
  for (let waited = 0; ; ) {
    const { headers, body } = await demo.store.get(path, Refund)
    demo.tell.fact('Refund', `GET ${path} says ${body.state}`)
    if (body.state !== 'REFUND_PENDING') return body
    const pause = retryAfterOf(headers, demo)
    waited += pause
    if (waited > maxRefundSeconds) throw new Error(`The refund of ${order.orderId} is still due.`)
    await demo.wait(pause)
  }
}

/**
 * The transfer of the refund on the chain; the store's word is not enough.
 *
 * @param paid the amount that must be refunded, in atomic USDC
 */
export async function transferOf(
  { buyer }: Pick<Demo, 'buyer'>,
  { state, transactionHash }: Refund,
  paid: bigint,
): Promise<Transfer & { readonly transaction: string }> {
  if (state !== 'REFUNDED' || transactionHash === null) {
    throw new Error(`The refund should be REFUNDED with a transaction, but is ${state}.`)
  }
  const transfers = await buyer.transfersIn(transactionHash)
  const mine = transfers.find(({ to }) => isAddressEqual(to, buyer.address))
  if (mine?.value === paid) return { ...mine, transaction: transactionHash }
  throw new Error(`The transaction ${transactionHash} does not bring ${paid} to ${buyer.address}.`)
}
