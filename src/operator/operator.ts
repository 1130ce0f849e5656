import type { Pool } from 'pg'
import type { Config } from '../config.ts'

/** Who works on which store. Every act of an operator takes it, from whatever surface. */
export interface Operator {
  /** Also the sandbox's has the URL of the database. */
  readonly config: Config & { readonly databaseUrl: string }
  /** In a dry run it keeps nothing: whatever is written is rolled back at the end. */
  readonly database: Pool
  /** A person, by name. */
  readonly by: string
  readonly now: () => Date
}

/** What the operator asked for is not to be done, for the reason in the message. It changed nothing. */
export class Refused extends Error {}
