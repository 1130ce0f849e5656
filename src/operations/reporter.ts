import type { Logger } from 'pino'
import type { Happening, Reporter } from '../orders/report.ts'

/** What each happening is to an operator: something to know, or something to act on. */
const levels: Readonly<Record<Happening['name'], 'warn' | 'error'>> = {
  goods_returned: 'warn',
  goods_lost: 'error',
  refund_failed: 'error',
  refund_held: 'error',
  payment_vanished: 'error',
  payment_lost: 'error',
  purchase_failed: 'error',
  step_failed: 'error',
}

export const happeningNames = Object.keys(levels) as readonly Happening['name'][]

export function reporterTo(log: Logger): Reporter {
  return ({ name, ...facts }) => log[levels[name]]({ happening: name, ...facts }, name)
}
