import type { Logger } from 'pino'
import type { CheckoutEvent } from '../checkouts/report.ts'
import type { StoreEvent } from '../orders/report.ts'
import type { PartEvent } from './part-changes.ts'

/** Whatever an operator may hear of, from orders, from checkouts and from the parts of the store. */
export type OperatorEvent = StoreEvent | CheckoutEvent | PartEvent

/** What each event is to an operator: something to know, or something to act on. */
const levels: Readonly<Record<OperatorEvent['name'], 'warn' | 'error'>> = {
  goods_returned: 'warn',
  goods_lost: 'error',
  charge_rose: 'warn',
  refund_failed: 'error',
  refund_held: 'error',
  payment_vanished: 'error',
  payment_lost: 'error',
  budget_spent: 'warn',
  purchase_failed: 'error',
  step_failed: 'error',
  return_failed: 'error',
  return_held: 'error',
  settled_payment_gone: 'error',
  invoice_gone: 'error',
  invoice_unread: 'error',
  address_taken: 'error',
  payment_unconfirmed: 'error',
  payout_waits: 'error',
  checkout_step_failed: 'error',
  part_down: 'error',
  part_up: 'warn',
}

export const eventNames = Object.keys(levels) as readonly OperatorEvent['name'][]

export function reporterTo(log: Logger): (told: OperatorEvent) => void {
  return ({ name, ...facts }) => log[levels[name]]({ event: name, ...facts }, name)
}
