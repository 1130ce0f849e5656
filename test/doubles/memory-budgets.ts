import {
  type BudgetName,
  type BudgetRules,
  budgetWindowMs,
  type Spent,
  type Subjects,
  type Whose,
} from '../../src/orders/budgets.ts'
import { isRefunding, type Order } from '../../src/orders/order.ts'

interface Row {
  readonly order: Order
  readonly subjects: Subjects | undefined
}

const who = ['payer', 'client', 'receiver'] as const
const budgetNames = ['unpaid_payments', 'failed_orders'] as const

/** The budget that is spent for longest, counted as the database counts it. */
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

function spentBy(
  orders: readonly Order[],
  { budget, whose }: { readonly budget: BudgetName; readonly whose: Whose },
  rules: BudgetRules,
  at: Date,
): readonly Spent[] {
  const counted = orders.filter((order) => budgetOf(order) === budget)
  const most = rules[whose][budget]
  if (most === undefined || counted.length < most) return []
  const times = counted.map(({ placedAt }) => placedAt.getTime()).sort((one, other) => one - other)
  const isOpen = counted.some(({ state }) => state === 'PAYMENT_PENDING')
  const until = (times[counted.length - most] ?? 0) + budgetWindowMs
  const seconds = Math.max(1, Math.ceil((until - at.getTime()) / 1_000))
  return [{ budget, whose, retryAfterSeconds: isOpen ? 5 : seconds }]
}

function isOf({ order, subjects }: Row, whose: Whose, wanted: Subjects): boolean {
  if (whose === 'payer') return order.tender.payer.toLowerCase() === wanted.payer
  return wanted[whose] !== undefined && subjects?.[whose] === wanted[whose]
}

function budgetOf(order: Order): BudgetName | undefined {
  if (isRefunding(order)) return 'failed_orders'
  const isUnpaid = order.state === 'PAYMENT_PENDING' || order.state === 'PAYMENT_FAILED'
  return isUnpaid ? 'unpaid_payments' : undefined
}
