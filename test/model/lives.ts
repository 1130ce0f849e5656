import {
  isRefunding,
  moves,
  type Order,
  payoutStateOf,
  type Refunding,
  type State,
} from '../../src/orders/order.ts'
import { type PayoutState, payoutMoves } from '../../src/orders/payout.ts'
import { forgottenBy } from '../doubles/order-rules.ts'

/** Violations in the history of one order, whose versions must follow from each other by one move each. */
export function historyFaults(life: readonly Order[]): string[] {
  return life.flatMap((order, index) => stepFault(life[index - 1], order) ?? [])
}

/** Why this version cannot follow the one before; undefined if it can. */
export function stepFault(before: Order | undefined, order: Order): string | undefined {
  const isLegal = before
    ? order.version === before.version + 1 &&
      isMove(before, order) &&
      isSame(before, order) &&
      !forgottenBy(before, order)
    : order.version === 1 && order.state === 'PAYMENT_PENDING'
  if (isLegal) return undefined
  return `version ${order.version} does not follow: ${wordOf(before)} to ${wordOf(order)}`
}

function isMove(before: Order, after: Order): boolean {
  if (isRefunding(before) && isRefunding(after)) {
    const isSupply = before.supply.state === 'OPEN' || before.supply.state === after.supply.state
    return (
      before.state === after.state &&
      isPayoutMove(before, after) &&
      (isSupply || isWatchedAgain(before, after))
    )
  }
  const states: readonly State[] = moves[before.state]
  return before.state === after.state || states.includes(after.state)
}

/** Whether the payout made at most one legal move. From none it becomes `DUE`, or `FAILED` if nothing is owed. */
export function isPayoutMove({ payout: before }: Refunding, { payout: after }: Refunding): boolean {
  if (before?.state === after?.state) return true
  const next: readonly PayoutState[] = before ? payoutMoves[before.state] : ['DUE', 'FAILED']
  return after !== undefined && next.includes(after.state)
}

/** Whether the watch for late goods, which had ended without an answer, began again when the refund was confirmed. */
function isWatchedAgain({ supply }: Refunding, after: Refunding): boolean {
  const isUnheard = supply.state === 'NONE' && supply.unheard === true
  return isUnheard && after.payout?.state === 'CONFIRMED' && after.supply.state === 'OPEN'
}

/** What was bought, by whom and for how much never changes, nor does the deadline. */
function isSame(before: Order, after: Order): boolean {
  const fixed = (order: Order) => [order.payment, order.amount, order.item, order.fingerprint]
  // Without a settled payment there is no deadline yet.
  const isDue =
    after.state === 'PAYMENT_PENDING' ||
    !('deliverBy' in before) ||
    ('deliverBy' in after && before.deliverBy === after.deliverBy)
  return isDue && fixed(before).every((part, index) => part === fixed(after)[index])
}

/** State, refund and supply of an order as text. */
export function wordOf(order: Order | undefined): string {
  if (!order) return 'nothing'
  return isRefunding(order)
    ? `${order.state} ${payoutStateOf(order)} ${order.supply.state}`
    : order.state
}
