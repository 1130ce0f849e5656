import { isOrderId, type OrderId } from '../lib/ids.ts'
import { formatUsdc } from '../lib/money.ts'
import { addressOf, methodOf } from '../payments/payment.ts'
import type { Order } from './order.ts'
import { type Debt, nextForPayout, type PayoutDeps, whyLive } from './payout.ts'
import type { Goodwill, GoodwillStore, Reporter } from './ports.ts'
import {
  carry,
  createSweeper,
  type Flow,
  moveTo,
  rest,
  type Step,
  type Sweeper,
  wait,
} from './workflow.ts'

type Gift = Pick<Goodwill, 'amount' | 'reason' | 'by'>

export function goodwillFor(order: Order | undefined, gift: Gift, now: Date): Goodwill | string {
  if (!order) return 'there is no such order'
  if (order.state !== 'FULFILLED')
    return `it is ${order.state}, and goodwill is for what was delivered`
  const { id, payment, receipt } = order
  if (order.settlement === 'SEEN') return 'its payment is not final yet; try again in a few minutes'
  if (order.settlement === 'LOST') return 'its payment vanished from the chain'
  if (gift.amount > order.amount)
    return `its price was ${formatUsdc(order.amount)} USDC, and goodwill is not more than that`
  const payout = { state: 'DUE' } as const
  const goodwill = {
    id,
    version: 1,
    ...gift,
    givenAt: now,
    changedAt: now,
    payment,
    receipt,
    payout,
  }
  return unitsOf(goodwill) > 0n ? goodwill : 'it is worth less than the smallest unit of the coin'
}

/** What is sent, in the smallest unit; of a coin at the rate at which its order was paid, rounded down. */
export function unitsOf({ amount, payment }: Pick<Goodwill, 'amount' | 'payment'>): bigint {
  return payment.method === 'x402' ? amount : (payment.units * amount) / payment.amount
}

/** Why goodwill that failed is not paid any more: an operator has dropped it. A retry gives it again. */
export const goodwillDropped = 'dropped'

export function droppedGoodwill(goodwill: Goodwill, by: string, now: Date): Goodwill | string {
  const { payout } = goodwill
  if (payout.state !== 'FAILED') return `it has not failed; it is ${payout.state}`
  if (payout.code === goodwillDropped) return 'it was dropped before'
  const live = whyLive(payout, now)
  if (live !== undefined) return live
  const { code, reason } = payout
  const why = `Dropped by ${by}. It had failed with ${code}: ${reason}`
  return { ...goodwill, payout: { state: 'FAILED', code: goodwillDropped, reason: why } }
}

export function goodwillReferenceOf(order: OrderId): string {
  return `${order}-goodwill`
}

export function orderOfGoodwill(reference: string): OrderId | undefined {
  const [, order = ''] = /^(.+)-goodwill$/.exec(reference) ?? []
  return isOrderId(order) ? order : undefined
}

export interface GoodwillDeps extends PayoutDeps {
  readonly goodwill: GoodwillStore
  readonly report: Reporter
  readonly stopping: AbortSignal
}

export function goodwillSweeper(deps: GoodwillDeps, atOnce: number): Sweeper {
  const { goodwill: store, now, stopping } = deps
  const flow: Flow<Goodwill> = { store, now, stopping, next: (goodwill) => next(deps, goodwill) }
  return createSweeper({
    claimDue: (limit) => store.claimDue(limit),
    handle: (goodwill) => carry(flow, goodwill),
    failed: ({ id }, error) => deps.report({ name: 'step_failed', order: id, error }),
    atOnce,
  })
}

async function next(deps: GoodwillDeps, goodwill: Goodwill): Promise<Step<Goodwill>> {
  const { payout } = goodwill
  if (payout.state === 'CONFIRMED' || payout.state === 'FAILED') return rest
  const step = await nextForPayout(deps, debtOf(deps, goodwill), payout)
  if (step.type !== 'move') return wait(step.ms)
  return moveTo({ ...goodwill, changedAt: deps.now(), payout: step.to })
}

function debtOf(deps: GoodwillDeps, goodwill: Goodwill): Debt {
  const { id, amount, payment, receipt: since, changedAt } = goodwill
  const reference = goodwillReferenceOf(id)
  const given = payment.method === 'btcpay' ? { units: unitsOf(goodwill) } : {}
  const due = { reference, payment: { ...payment, amount, ...given }, since }
  return {
    reference,
    since: changedAt,
    payee: addressOf(payment),
    sign: () => methodOf(deps.methods, payment).signRefund(due),
    report: (name, reason) => deps.report({ name: `goodwill_${name}`, order: id, reason }),
  }
}
