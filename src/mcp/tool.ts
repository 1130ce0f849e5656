import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { PaymentRequired } from '@x402/core/types'
import type { Charge } from '../api/buying/charge.ts'
import type { BuyingDeps, FaultLog, ReadDeps } from '../api/deps.ts'
import type { ProofLimit } from '../api/operation.ts'
import type { LimitName } from '../http/rate-limit.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { AppName } from './apps.ts'
import type { HostSettings } from './host.ts'
import type { Person, Visit } from './person.ts'

/** Something that a model may ask of the store. */
export interface Tool {
  readonly name: string
  /** Its name for people. */
  readonly title: string
  /** What a model that has never seen the store must know before it calls. */
  readonly description: string
  /** JSON Schema of the arguments. What is really taken is for the API to read. */
  readonly inputSchema: JsonObject
  readonly annotations: ToolAnnotations
  /** The document that shows its answers to a person. */
  readonly app: AppName
  /** What a call counts as: what the same question counts as over HTTP. */
  readonly limit: LimitName
  /** Whether the call is about money, so that its errors say if any moved. */
  readonly charges: boolean
  /** Whether a call with a payment that is above a limit is still let in to find the order of the payment. */
  readonly findsOrders?: true
  readonly run: (call: ToolCall, deps: ToolDeps) => ToolOutcome | Promise<ToolOutcome>
}

/** A JSON Schema whose root is an object. */
export type JsonObject = { readonly type: 'object' } & Readonly<Record<string, unknown>>

/** What tools answer from. */
export interface ToolDeps {
  readonly reading: ReadDeps
  readonly buying: BuyingDeps
}

/** One call of a tool. */
export interface ToolCall {
  /** As they came, without those that are null: callers send null for what they do not give. */
  readonly args: Readonly<Record<string, unknown>>
  /** What stands beside the arguments, out of the model's sight: payments, sign-ins. */
  readonly meta: Readonly<Record<string, unknown>>
  readonly log: FaultLog
  /** The address that it came from, as limits count it. */
  readonly client: string
  readonly proofs: ProofLimit
  /** What is known of its money. */
  readonly charge: Charge
  /** What its host has set. */
  readonly host: HostSettings
  /** The person behind it. */
  readonly person: Person
  /** Why it may do no more than find the order that it has already paid for. */
  readonly heldUp: Refusal | undefined
}

/** What a tool says: an answer, or a demand that must be met first. */
export type ToolOutcome =
  | {
      readonly type: 'answer'
      /** As published; a field that is undefined is absent. */
      readonly body: object
      /** What to do now, in a sentence. */
      readonly advice?: string
      /** A PNG to be shown, in base64. */
      readonly picture?: string | undefined
      readonly meta?: Readonly<Record<string, unknown>>
      /** What a person is brought to before they get this answer. */
      readonly visit?: Visit | undefined
    }
  | { readonly type: 'demand'; readonly required: PaymentRequired; readonly more: object }
