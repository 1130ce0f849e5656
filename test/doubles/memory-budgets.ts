import { budgetWindowMs } from '../../src/orders/budgets.ts'
import { isRefunding, type Order } from '../../src/orders/order.ts'
import type {
  BudgetRules,
  ClaimUse,
  Risk,
  Spent,
  StoredClaim,
  Subjects,
} from '../../src/orders/ports.ts'

interface Row {
  readonly order: Order
  readonly subjects: Subjects | undefined
}

const counts = {
  unpaid_payments: ({ state }: Order) => state === 'PAYMENT_PENDING' || state === 'PAYMENT_FAILED',
  failed_orders: isRefunding,
}

/** The first budget that is spent; the database names the one that stays so, and counts reverts as well. */
export function spentIn(
  rows: readonly Row[],
  subjects: Subjects,
  rules: BudgetRules,
  at: Date,
): Spent | undefined {
  const since = at.getTime() - budgetWindowMs
  const recent = rows.filter(({ order }) => order.placedAt.getTime() > since)
  for (const whose of ['payer', 'client', 'receiver'] as const) {
    const theirs = recent.filter((row) => isOf(row, whose, subjects)).map(({ order }) => order)
    for (const budget of ['unpaid_payments', 'failed_orders'] as const) {
      const times = theirs.filter(counts[budget]).map(({ placedAt }) => placedAt.getTime())
      const retryAfterSeconds = waitOf(times, rules[whose][budget], at)
      if (retryAfterSeconds !== undefined) return { budget, whose, retryAfterSeconds }
    }
  }
  return undefined
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
      row.order.payment.method === 'x402' &&
      ['PAYMENT_PENDING', 'PAID', 'FULFILLING'].includes(row.order.state),
  )
  const risked = open.reduce((sum, { order }) => sum + order.amount, 0n)
  if (risked === 0n || (risked + amount) * 2n <= float) return undefined
  return { budget: 'exposure', whose: 'payer', retryAfterSeconds: 60 }
}

/** Seconds until there is room for one more; undefined if there is room now. */
function waitOf(times: readonly number[], most: number | undefined, at: Date): number | undefined {
  if (most === undefined || times.length < most) return undefined
  const sorted = times.toSorted((one, other) => one - other)
  const until = (sorted[times.length - most] ?? 0) + budgetWindowMs
  return Math.max(1, Math.ceil((until - at.getTime()) / 1_000))
}

export interface MemoryClaim extends StoredClaim {
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
  const since = at.getTime() - budgetWindowMs
  for (const whose of ['order', 'client'] as const) {
    const theirs = claims.filter((one) => one.at > since && isOfSame(one, claim, whose))
    const times = theirs.map((one) => one.at)
    const retryAfterSeconds = waitOf(times, rules[whose].refund_claims, at)
    if (retryAfterSeconds !== undefined) {
      return { budget: 'refund_claims', whose, retryAfterSeconds }
    }
  }
  claims.push(claim)
  return 'fresh'
}

function isOfSame(one: MemoryClaim, other: MemoryClaim, whose: 'order' | 'client'): boolean {
  return other[whose] !== undefined && one[whose] === other[whose]
}

function isOf({ order, subjects }: Row, whose: keyof Subjects, wanted: Subjects): boolean {
  if (whose === 'payer') return order.payment.payer.toLowerCase() === wanted.payer
  return wanted[whose] !== undefined && subjects?.[whose] === wanted[whose]
}
