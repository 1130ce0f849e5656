import type { Logger } from 'pino'
import type { CheckoutHappening } from '../checkouts/report.ts'
import type { Happening } from '../orders/report.ts'
import type { PartHappening } from './part-changes.ts'

/** Whatever an operator may hear of, from orders, from checkouts and from the parts of the store. */
export type Told = Happening | CheckoutHappening | PartHappening

/** What each happening is to an operator: something to know, or something to act on. */
const levels: Readonly<Record<Told['name'], 'warn' | 'error'>> = {
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

export const happeningNames = Object.keys(levels) as readonly Told['name'][]

export function reporterTo(log: Logger): (told: Told) => void {
  return ({ name, ...facts }) => log[levels[name]]({ happening: name, ...facts }, name)
}
