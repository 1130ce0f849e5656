import type { Recipient } from '../goods/good.ts'
import type { Offer } from '../goods/offer.ts'
import { Refusal } from '../primitives/refusal.ts'
import type { Digest } from '../secrets/tokens.ts'
import { receiverOf } from './limits/recipient.ts'
import type { OrderStore } from './ports.ts'
import type { Reporter } from './report.ts'

/**
 * Orders that come to nothing cost the store and not their buyer: gas for settlements that are reverted
 * and for refunds, calls to the chain, and room under the caps of refunds. So within an hour each
 * payer, client and receiver has only so many of them:
 *
 * - `unpaid_payments`: payments that are not proven yet, or were proven to have failed;
 * - `failed_orders`: orders that were paid, not delivered, and paid back.
 *
 * They are counted from the orders on record. So all nodes count together, an order counts once however
 * often it is asked for, and one that is delivered counts no more.
 */
export type BudgetName = 'unpaid_payments' | 'failed_orders'

/** How many a payer has in an hour. */
export type Budgets = Readonly<Record<BudgetName, number>>

/** Whom an order counts for. Client and receiver are keyed digests. */
export interface Subjects {
  readonly payer: string
  readonly client?: string | undefined
  /** With the offer: a number is no reason to refuse another offer for it. */
  readonly receiver?: string | undefined
}
export type Whose = keyof Subjects

export const budgetWindowMs = 3_600_000

/** Many buyers may share an address. */
const clientTimes = 4
/** The same good for the same receiver fails for a reason that another try does not mend. */
const receiverMost = 3

/** How many orders of each come to nothing at most. */
export type BudgetRules = Readonly<Record<Whose, Readonly<Partial<Budgets>>>>

export function budgetRules(budgets: Budgets): BudgetRules {
  const { unpaid_payments, failed_orders } = budgets
  return {
    payer: budgets,
    client: {
      unpaid_payments: unpaid_payments * clientTimes,
      failed_orders: failed_orders * clientTimes,
    },
    receiver: { failed_orders: Math.min(failed_orders, receiverMost) },
  }
}

/** A budget that has nothing left, and when it has something again. */
export interface Spent {
  readonly budget: BudgetName
  readonly whose: Whose
  readonly retryAfterSeconds: number
}

export interface BudgetDeps {
  readonly orders: Pick<OrderStore, 'spentBudget'>
  readonly budgets: BudgetRules
  readonly digest: Digest
  readonly report: Reporter
  readonly now: () => Date
}

/** Whom a purchase counts for. */
export function subjectsOf(
  { digest }: Pick<BudgetDeps, 'digest'>,
  payer: string,
  sent: {
    readonly client: string | undefined
    readonly offer: Offer
    readonly recipient: Recipient
  },
): Subjects {
  const { text } = receiverOf(sent.recipient)
  return {
    payer: payer.toLowerCase(),
    client: sent.client === undefined ? undefined : digest.of(`client:${sent.client}`),
    receiver: text === undefined ? undefined : digest.of(`receiver:${sent.offer.id}:${text}`),
  }
}

/**
 * Looks before anything is asked outside; the record decides again when the order is opened.
 *
 * @throws Refusal `budget_spent`
 */
export async function requireBudgets(deps: BudgetDeps, subjects: Subjects): Promise<void> {
  const spent = await deps.orders.spentBudget(subjects, deps.budgets, deps.now())
  if (spent) throw budgetSpent(deps, spent)
}

export function budgetSpent({ report }: Pick<BudgetDeps, 'report'>, spent: Spent): Refusal {
  const { budget, whose, retryAfterSeconds } = spent
  report({ name: 'budget_spent', budget, whose })
  const message = `Too many ${nouns[budget]} ${subjects[whose]} within an hour; try again in ${retryAfterSeconds} seconds.`
  return new Refusal('budget_spent', message, { retryAfterSeconds, extra: { budget, whose } })
}

const nouns: Readonly<Record<BudgetName, string>> = {
  unpaid_payments: 'payments have not paid',
  failed_orders: 'orders could not be delivered and were paid back',
}

const subjects: Readonly<Record<Whose, string>> = {
  payer: 'of this wallet',
  client: 'from this address',
  receiver: 'of this offer for the same receiver',
}
