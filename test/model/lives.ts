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

/** What is wrong with the versions of one order, oldest first: each follows from the last by one move. */
export function historyFaults(life: readonly Order[]): string[] {
  return life.flatMap((order, index) => stepFault(life[index - 1], order) ?? [])
}

/** Why an order cannot have become this one, or undefined when it can. */
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

/** Whether the payout went one legal move at most. Money that was not owed yet is due, or never will be. */
export function isPayoutMove({ payout: before }: Refunding, { payout: after }: Refunding): boolean {
  if (before?.state === after?.state) return true
  const next: readonly PayoutState[] = before ? payoutMoves[before.state] : ['DUE', 'FAILED']
  return after !== undefined && next.includes(after.state)
}

/** Only time had ended the watch for late goods, and the money went back after that. */
function isWatchedAgain({ supply }: Refunding, after: Refunding): boolean {
  const isUnheard = supply.state === 'NONE' && supply.unheard === true
  return isUnheard && after.payout?.state === 'CONFIRMED' && after.supply.state === 'OPEN'
}

/** What was bought, by whom and for how much never changes; nor does when it is due. */
function isSame(before: Order, after: Order): boolean {
  const fixed = (order: Order) => [order.tender, order.amount, order.item, order.fingerprint]
  // A payment that is unknown once more has no deadline yet.
  const isDue =
    after.state === 'PAYMENT_PENDING' ||
    !('deliverBy' in before) ||
    ('deliverBy' in after && before.deliverBy === after.deliverBy)
  return isDue && fixed(before).every((part, index) => part === fixed(after)[index])
}

/** State, refund and supply of an order in a word or three. */
export function wordOf(order: Order | undefined): string {
  if (!order) return 'nothing'
  return isRefunding(order)
    ? `${order.state} ${payoutStateOf(order)} ${order.supply.state}`
    : order.state
}
