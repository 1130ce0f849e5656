import {
  type BudgetRules,
  budgetWindowMs,
  type Risk,
  type Spent,
  type Subjects,
} from '../../src/orders/budgets.ts'
import { isRefunding, type Order } from '../../src/orders/order.ts'
import type { ClaimUse, KeptClaim } from '../../src/orders/ports.ts'

interface Row {
  readonly order: Order
  readonly subjects: Subjects | undefined
}

const who = ['payer', 'client', 'receiver'] as const
const budgetNames = ['unpaid_payments', 'failed_orders', 'reverts'] as const
type OfOrders = (typeof budgetNames)[number]

/** The budget that stays spent for the longest time, counted as the database does. */
export function spentIn(
  rows: readonly Row[],
  subjects: Subjects,
  rules: BudgetRules,
  at: Date,
): Spent | undefined {
  const since = at.getTime() - budgetWindowMs
  const recent = rows.filter(({ order }) => order.placedAt.getTime() > since)
  const spent = who.flatMap((whose) => {
    const theirs = recent.filter((row) => isOf(row, whose, subjects)).map(({ order }) => order)
    return budgetNames.flatMap((budget) => spentBy(theirs, { budget, whose }, rules, at))
  })
  return spent.sort((one, other) => other.retryAfterSeconds - one.retryAfterSeconds)[0]
}

/** Whether the payer already has half of the float at risk. The database also shares it out more finely. */
export function exceededIn(
  rows: readonly Row[],
  subjects: Subjects,
  { float, amount }: Risk,
): Spent | undefined {
  const open = rows.filter(
    (row) =>
      isOf(row, 'payer', subjects) &&
      row.order.tender.rail === 'x402' &&
      ['PAYMENT_PENDING', 'PAID', 'FULFILLING'].includes(row.order.state),
  )
  const risked = open.reduce((sum, { order }) => sum + order.amount, 0n)
  if (risked === 0n || (risked + amount) * 2n <= float) return undefined
  return { budget: 'exposure', whose: 'payer', retryAfterSeconds: 60 }
}

function spentBy(
  orders: readonly Order[],
  { budget, whose }: { readonly budget: OfOrders; readonly whose: keyof Subjects },
  rules: BudgetRules,
  at: Date,
): readonly Spent[] {
  const counted = orders.flatMap((order) => Array<Order>(timesCounted(order, budget)).fill(order))
  const times = counted.map(({ placedAt }) => placedAt.getTime())
  const seconds = waitOf(times, rules[whose][budget], at)
  if (seconds === undefined) return []
  const isOpen = budget !== 'reverts' && counted.some(({ state }) => state === 'PAYMENT_PENDING')
  return [{ budget, whose, retryAfterSeconds: isOpen ? 5 : seconds }]
}

/** Seconds until there is room for one more; undefined if there is room now. */
function waitOf(times: readonly number[], most: number | undefined, at: Date): number | undefined {
  if (most === undefined || times.length < most) return undefined
  const sorted = times.toSorted((one, other) => one - other)
  const until = (sorted[times.length - most] ?? 0) + budgetWindowMs
  return Math.max(1, Math.ceil((until - at.getTime()) / 1_000))
}

export interface MemoryClaim extends KeptClaim {
  readonly order: string
  readonly version: number
  readonly at: number
}

/** Records a refund claim as the database does. */
export function keepClaim(
  claims: MemoryClaim[],
  claim: MemoryClaim,
  rules: BudgetRules,
  at: Date,
): ClaimUse {
  const earlier = claims.find(({ order, key }) => order === claim.order && key === claim.key)
  if (earlier && earlier.bodyHash !== claim.bodyHash) return 'other_body'
  if (earlier) return earlier.version < claim.version ? 'used' : 'fresh'
  const recent = claims.filter((one) => one.at > at.getTime() - budgetWindowMs)
  const spent = (['order', 'client'] as const).flatMap((whose) => {
    const theirs = recent.filter((one) => claim[whose] !== undefined && one[whose] === claim[whose])
    const times = theirs.map((one) => one.at)
    const retryAfterSeconds = waitOf(times, rules[whose].refund_claims, at)
    return retryAfterSeconds === undefined
      ? []
      : [{ budget: 'refund_claims' as const, whose, retryAfterSeconds }]
  })
  const longest = spent.sort((one, other) => other.retryAfterSeconds - one.retryAfterSeconds)[0]
  if (!longest) claims.push(claim)
  return longest ?? 'fresh'
}

function isOf({ order, subjects }: Row, whose: keyof Subjects, wanted: Subjects): boolean {
  if (whose === 'payer') return order.tender.payer.toLowerCase() === wanted.payer
  return wanted[whose] !== undefined && subjects?.[whose] === wanted[whose]
}

function timesCounted(order: Order, budget: OfOrders): number {
  if (order.state === 'FULFILLED') return 0
  if (budget === 'reverts') return order.reverts ?? 0
  if (budget === 'failed_orders') return isRefunding(order) ? 1 : 0
  return order.state === 'PAYMENT_PENDING' || order.state === 'PAYMENT_FAILED' ? 1 : 0
}
