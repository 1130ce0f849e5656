import type { Pool } from 'pg'
import type { Config, Outside } from '../config.ts'
import type { OperatorKeys } from '../secrets/secrets.ts'

/** Who works on which store. Every act of an operator takes it, from whatever surface. */
export interface Operator {
  /** That of a sandbox has its database and network too. */
  readonly config: Config & Pick<Outside, 'databaseUrl' | 'network'>
  /** In a dry run it keeps nothing: whatever is written is rolled back at the end. */
  readonly database: Pool
  /** A person, by name. */
  readonly by: string
  readonly now: () => Date
}

/** An operator who can recognise what the store keeps as keyed digests, and open what it has sealed. */
export interface KeyedOperator extends Operator {
  readonly keys: OperatorKeys
}

/** What the operator asked for is not to be done, for the reason in the message. It changed nothing. */
export class Refused extends Error {}
