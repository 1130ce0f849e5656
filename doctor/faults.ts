import { purchaseFaults } from './purchase-faults.ts'
import { storeFaults } from './store-faults.ts'

/**
 * How severe a fault is. `stop`: a buyer cannot buy, buys something other than expected, or never learns
 * the price. `warn`: some clients or some listings fail. `note`: something useful to buyers is missing.
 */
export type Level = 'stop' | 'warn' | 'note'

export interface Fault {
  readonly level: Level
  readonly what: string
  /** How to fix it. */
  readonly mend: string
}

/** By their codes, in the order in which they are printed and listed in docs/operators/doctor.md. */
export const faults = { ...storeFaults, ...purchaseFaults }

export type FaultCode = keyof typeof faults
