import type { KindDefinition } from '../catalog/kinds/kind.ts'
import { goods } from '../catalog/kinds.ts'
import type { Recipient } from '../catalog/offer.ts'
import { numberIn, phonePattern } from '../catalog/phone.ts'
import type { Fields } from '../catalog/purchase-body.ts'
import { Refusal, type RefusalDetails } from '../lib/refusal.ts'
import { identityOf } from './denylist.ts'
import type {
  BudgetRules,
  Budgets,
  CountedBudget,
  OrderStore,
  Risk,
  Spent,
  StepDeps,
  Subjects,
  Whose,
} from './ports.ts'

export const budgetWindowMs = 3_600_000

/** An honest payment is hardly ever reverted. */
const maxReverts = 6
/** Many buyers may share an address. */
const clientTimes = 4
/** A failure for one receiver has a cause that another try, or another denomination, does not remove. */
const maxReceiver = 3
/** Refunds start by themselves, so claims are rare. */
const maxClaims = 10

export function budgetRules(budgets: Budgets): BudgetRules {
  const { unpaid_payments, failed_orders } = budgets
  return {
    payer: { ...budgets, reverts: maxReverts },
    client: {
      unpaid_payments: unpaid_payments * clientTimes,
      failed_orders: failed_orders * clientTimes,
      reverts: maxReverts * clientTimes,
      refund_claims: maxClaims * clientTimes,
    },
    receiver: { failed_orders: Math.min(failed_orders, maxReceiver) },
    order: { refund_claims: maxClaims },
  }
}

export interface BudgetDeps extends Pick<StepDeps, 'digest' | 'report' | 'now'> {
  readonly orders: Pick<OrderStore, 'spentBudget'>
  readonly budgets: BudgetRules
}

export function subjectsOf(
  deps: Pick<BudgetDeps, 'digest'>,
  payer: string,
  sent: { readonly client: string | undefined; readonly recipient: Recipient },
): Subjects {
  const text = receiverText(sent.recipient)
  return {
    payer: payer.toLowerCase(),
    client: clientDigest(deps, sent.client),
    receiver: text && deps.digest.of(text),
  }
}

function receiverText(recipient: Recipient): string | undefined {
  const [text] = receiversOf(recipient)
  return text && `receiver:${identityOf(text)}`
}

/** Who may have received goods too recently to get these, as a digest under each key of the store; the buyer may insist. */
export function soonAfter(
  { digest }: Pick<BudgetDeps, 'digest'>,
  recipient: Recipient,
  { confirmAnother }: Fields,
): readonly string[] | undefined {
  const { isRefusedSoonAfter }: KindDefinition = goods[recipient.kind]
  const text = receiverText(recipient)
  return isRefusedSoonAfter && text && confirmAnother !== true ? digest.every(text) : undefined
}

export function justReceived(): Refusal {
  const message =
    'This number was topped up within the last two minutes, and its carrier may refuse another topup so soon. To top it up again all the same, send the same request with confirmAnother: true.'
  return new Refusal('possible_duplicate', message, { charged: 'no' })
}

/** Who receives the goods: an e-mail address in lower case, a phone number in E.164 form, both, or an ICCID. */
export function receiversOf(recipient: Recipient): string[] {
  const { receiver, secondReceiver }: KindDefinition = goods[recipient.kind]
  const values = new Map<string, unknown>(Object.entries(recipient))
  return [receiver, secondReceiver ?? ''].flatMap((field) => {
    const value = values.get(field)
    if (typeof value !== 'string') return []
    const number = phonePattern.test(value) ? numberIn(value) : undefined
    return [number ?? value.toLowerCase()]
  })
}

export function clientDigest(
  { digest }: Pick<BudgetDeps, 'digest'>,
  client: string | undefined,
): string | undefined {
  return client === undefined ? undefined : digest.of(`client:${client}`)
}

/** The record checks again when the order is opened. @throws Refusal `budget_spent` */
export async function requireBudgets(
  deps: BudgetDeps,
  subjects: Subjects,
  risk?: Risk,
): Promise<void> {
  const spent = await deps.orders.spentBudget(subjects, deps.budgets, deps.now(), risk)
  if (spent) throw budgetSpent(deps, spent)
}

/** @param charged whether money has moved, where that is known */
export function budgetSpent(
  { report }: Pick<BudgetDeps, 'report'>,
  spent: Spent,
  charged?: RefusalDetails['charged'],
): Refusal {
  const { budget, whose, retryAfterSeconds } = spent
  report({ name: 'budget_spent', budget, whose })
  const message = `${describeSpent(spent)}; try again in ${retryAfterSeconds} seconds.`
  return new Refusal('budget_spent', message, {
    retryAfterSeconds,
    extra: { budget, whose },
    ...(charged && { charged }),
  })
}

function describeSpent({ budget, whose }: Spent): string {
  if (budget === 'exposure') {
    return `Much of the refund reserve is in use. With the orders ${subjects[whose]} that are open or were refunded within an hour, this purchase exceeds its share`
  }
  if (budget === 'open_approvals') {
    return `Too many purchases ${subjects[whose]} wait for a person to approve them`
  }
  const [what, fate] = words[budget]
  return `Too many ${what} ${subjects[whose]} ${fate} within an hour`
}

const words: Readonly<Record<CountedBudget, readonly [what: string, fate: string]>> = {
  unpaid_payments: ['payments', 'have not paid'],
  failed_orders: ['orders', 'could not be delivered and were paid back'],
  reverts: ['payments', 'were reverted at the expense of the store'],
  refund_claims: ['refund claims', 'were made'],
}

const subjects: Readonly<Record<Whose, string>> = {
  payer: 'of this wallet',
  client: 'from this address',
  receiver: 'for the same receiver',
  order: 'of this order',
}
