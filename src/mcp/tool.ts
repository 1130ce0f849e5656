import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { PaymentRequired } from '@x402/core/types'
import type { BuyingDeps, FaultLog, ReadDeps } from '../api/deps.ts'
import type { ProofLimit } from '../api/operation.ts'
import type { LimitName } from '../http/gate.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { HostSettings, Person, Visit } from './host.ts'
import type { AppName } from './server.ts'

/** A tool that a model can call. */
export interface Tool {
  readonly name: string
  /** Its name for people. */
  readonly title: string
  /** Everything that a model new to the store must know before it calls. */
  readonly description: string
  /** JSON Schema of the arguments. The API validates them; this only describes them. */
  readonly inputSchema: JsonObject
  readonly annotations: ToolAnnotations
  /** The document that shows its answers to a person. */
  readonly app: AppName
  /** The rate limit of a call: that of the same call over HTTP, which the arguments may decide. */
  readonly limit: LimitName | ((args: ToolCall['args']) => LimitName)
  /** Whether errors of the call say in `charged` whether money moved. */
  readonly charges: boolean
  /** Whether a call with a payment above a limit is still admitted to find the order of that payment. */
  readonly findsOrders?: true
  readonly run: (call: ToolCall, deps: ToolDeps) => ToolOutcome | Promise<ToolOutcome>
}

/** A JSON Schema whose root is an object. */
export type JsonObject = { readonly type: 'object' } & Readonly<Record<string, unknown>>

/** The dependencies of tools. */
export interface ToolDeps {
  readonly reading: ReadDeps
  readonly buying: BuyingDeps
}

/** One call of a tool. */
export interface ToolCall {
  /** As sent, except those that are null: callers send null for arguments that they leave out. */
  readonly args: Readonly<Record<string, unknown>>
  /** The `_meta` of the call, which models do not see: payments and sign-ins. */
  readonly meta: Readonly<Record<string, unknown>>
  readonly log: FaultLog
  /** The client address, as the limits count it. */
  readonly client: string
  readonly proofs: ProofLimit
  /** The settings of its host. */
  readonly host: HostSettings
  /** How its client can bring a person to a page. */
  readonly person: Person
  /** Set if the call is above a limit and may only find the order that it has already paid for. */
  readonly heldUp: Refusal | undefined
}

/** The outcome of a tool: an answer, or a demand (payment or sign-in) that must be met first. */
export type ToolOutcome =
  | {
      readonly type: 'answer'
      /** As published; a field that is undefined is absent. */
      readonly body: object
      /** What the caller should do now, in a sentence. */
      readonly advice?: string
      /** A PNG to show, in base64. */
      readonly picture?: string | undefined
      readonly meta?: Readonly<Record<string, unknown>>
      /** Whether the payment in the call counts as refused, because nothing shows that it is the caller's. */
      readonly provesNothing?: true
      /** The page to which a person is brought before the caller gets this answer. */
      readonly visit?: Visit | undefined
    }
  | { readonly type: 'demand'; readonly required: PaymentRequired; readonly more: object }
