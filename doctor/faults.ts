import { purchaseFaults } from './purchase-faults.ts'
import { storeFaults } from './store-faults.ts'

/**
 * What the doctor can find, each with its mend. `stop`: a buyer cannot buy, buys something else than
 * it thinks, or never learns the price. `warn`: some clients or some listings fail. `note`: something
 * that buyers would like and that is not there.
 */
export type Level = 'stop' | 'warn' | 'note'

export interface Fault {
  readonly level: Level
  readonly what: string
  readonly mend: string
}

/** By their codes, in the order in which they are told and listed in docs/operators/doctor.md. */
export const faults = { ...storeFaults, ...purchaseFaults }

export type FaultCode = keyof typeof faults
