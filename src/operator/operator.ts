import type { Pool } from 'pg'
import type { StoreConfig } from '../config.ts'

/** Who works on which store. Every act of an operator takes it, from whatever surface. */
export interface Operator {
  readonly config: StoreConfig
  /** In a dry run it keeps nothing: whatever is written is rolled back at the end. */
  readonly database: Pool
  /** A person, by name. */
  readonly by: string
  readonly now: () => Date
}

/** What the operator asked for is not to be done, for the reason in the message. It changed nothing. */
export class Refused extends Error {}
