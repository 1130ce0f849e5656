import { internalRule, type Rule, rules } from '../../api/refusals.ts'
import type { RefusalCode } from '../../lib/refusal.ts'
import { type MessageId, type Texts, textsIn } from '../texts/texts.ts'

/** The codes that an error can carry: every refusal, and the one for a defect of ours. */
export type ErrorCode = RefusalCode | 'internal_error'

/** Every code of a problem document, in the order of the tables. A code that is missing does not compile. */
const order: Readonly<Record<ErrorCode, true>> = {
  invalid_parameter: true,
  unknown_parameter: true,
  repeated_parameter: true,
  invalid_url: true,
  invalid_json: true,
  invalid_body: true,
  invalid_header: true,
  unsupported_media_type: true,
  body_too_large: true,
  not_found: true,
  method_not_allowed: true,
  offer_not_found: true,
  offer_unavailable: true,
  price_above_maximum: true,
  order_not_found: true,
  payment_invalid: true,
  payment_mismatch: true,
  payment_reused: true,
  idempotency_conflict: true,
  idempotency_key_missing: true,
  no_receipt: true,
  no_webhook: true,
  not_refundable: true,
  refund_destination_refused: true,
  sign_in_invalid: true,
  limit_exceeded: true,
  approval_required: true,
  approval_declined: true,
  rate_limited: true,
  budget_spent: true,
  store_paused: true,
  try_again: true,
  too_costly: true,
  internal_error: true,
}
export const errorCodes = Object.keys(order) as readonly ErrorCode[]

/** The status and the title that a code comes with. */
export function ruleOf(code: ErrorCode): Rule {
  return code === 'internal_error' ? internalRule : rules[code]
}

/** What a code means, for those who meet it. */
interface Meaning {
  /** When the store answers with it. */
  readonly when: string
  /** What the agent that asked does now. */
  readonly agent: string
  /** What the operator of the store does, if anything. */
  readonly operator: string
}

/** A name in the messages that a meaning stands under. */
type MeaningName = {
  [Id in MessageId]: Id extends `${infer Group}.${infer Name}.when` ? `${Group}.${Name}` : never
}[MessageId]

export function meaningOf(name: MeaningName, t: Texts): Meaning {
  return { when: t(`${name}.when`), agent: t(`${name}.agent`), operator: t(`${name}.operator`) }
}

type OutcomeId = MeaningName extends infer Name
  ? Name extends `outcome.${infer Id}`
    ? Id
    : never
  : never

/** A code that stands elsewhere than in the `code` of a problem document. */
export interface Outcome {
  /** The part of the interfaces where it stands, and the code. */
  readonly id: OutcomeId
  /** The status or the state that it comes with, where that says more. */
  readonly note?: string
  /** Whether the very same request may succeed later. */
  readonly isRetryable?: true
}

export interface OutcomeSection {
  readonly id: 'unread' | 'payments' | 'orders' | 'refunds' | 'offers'
  readonly outcomes: readonly Outcome[]
}

export function codeOf({ id }: Outcome): string {
  return id.slice(id.indexOf('.') + 1)
}

/** Every other code that an agent may meet, by where it stands. */
export const outcomeSections: readonly OutcomeSection[] = [
  {
    id: 'unread',
    outcomes: [
      { id: 'unread.invalid_http', note: '400' },
      { id: 'unread.request_timeout', note: '408', isRetryable: true },
      { id: 'unread.headers_too_large', note: '431' },
    ],
  },
  {
    id: 'payments',
    outcomes: [
      { id: 'payments.payment_invalid', note: '402' },
      { id: 'payments.payment_mismatch', note: '402' },
      { id: 'payments.expired', note: '402' },
      { id: 'payments.valid_too_long', note: '402' },
      { id: 'payments.not_yet_valid', note: '402' },
      { id: 'payments.bad_signature', note: '402' },
      { id: 'payments.nonce_used', note: '402' },
      { id: 'payments.insufficient_balance', note: '402' },
      { id: 'payments.wrong_amount', note: '402' },
      { id: 'payments.wrong_recipient', note: '402' },
      { id: 'payments.wallet_not_deployed', note: '402' },
      { id: 'payments.would_fail', note: '402' },
      { id: 'payments.too_costly', note: '402' },
      { id: 'payments.wallet_inconsistent', note: '402' },
      { id: 'payments.authorization_cancelled', note: '402' },
      { id: 'payments.authorization_spent', note: '402' },
      { id: 'payments.authorization_expired', note: '402' },
    ],
  },
  {
    id: 'orders',
    outcomes: [
      { id: 'orders.fulfillment_failed', note: 'FULFILLMENT_FAILED' },
      { id: 'orders.upstream_timeout', note: 'FULFILLMENT_FAILED' },
      { id: 'orders.expired', note: 'EXPIRED' },
      { id: 'orders.authorization_cancelled', note: 'PAYMENT_FAILED' },
      { id: 'orders.authorization_spent', note: 'PAYMENT_FAILED' },
      { id: 'orders.authorization_expired', note: 'PAYMENT_FAILED' },
    ],
  },
  {
    id: 'refunds',
    outcomes: [
      { id: 'refunds.no_float' },
      { id: 'refunds.no_gas' },
      { id: 'refunds.token_paused' },
      { id: 'refunds.payer_blacklisted' },
      { id: 'refunds.wallet_blacklisted' },
      { id: 'refunds.refund_nonce_spent' },
      { id: 'refunds.operator_pays' },
      { id: 'refunds.note_transaction' },
      { id: 'refunds.payout_cancelled' },
      { id: 'refunds.payout_mismatch' },
      { id: 'refunds.payout_gone' },
      { id: 'refunds.payout_refused' },
      { id: 'refunds.processor_key' },
      { id: 'refunds.payment_not_shown' },
      { id: 'refunds.over_cap' },
      { id: 'refunds.payment_vanished' },
    ],
  },
  {
    id: 'offers',
    outcomes: [
      { id: 'offers.required_fields' },
      { id: 'offers.open_value_currency' },
      { id: 'offers.open_value_kind' },
      { id: 'offers.list_stale' },
      { id: 'offers.rate_missing' },
      { id: 'offers.rate_stale' },
      { id: 'offers.too_large' },
    ],
  },
]

/** The language of documents and of models. */
const t = textsIn('en')

/** A table of Markdown, under the heading that names where its codes stand. */
interface ErrorTable {
  readonly heading: string
  readonly lead: string
  readonly table: string
}

/** Everything that can go wrong, as tables of Markdown: for docs/agents/errors.md and for models. */
export function errorTables(): readonly ErrorTable[] {
  const refusals = errorCodes.map((code) => {
    const { when, agent, operator } = meaningOf(`error.${code}`, t)
    const { status, retryable } = ruleOf(code)
    return [code, noteOf(String(status), retryable), when, agent, operator]
  })
  const lead =
    'In the `code` of a problem document. *retryable* means that the very same request may succeed later.'
  return [
    { heading: 'Refusals', lead, table: tableOf(refusals) },
    ...outcomeSections.map(({ id, outcomes }) => {
      const rows = outcomes.map((outcome) => {
        const { when, agent, operator } = meaningOf(`outcome.${outcome.id}`, t)
        const { note = '', isRetryable } = outcome
        return [codeOf(outcome), noteOf(note, isRetryable), when, agent, operator]
      })
      return {
        heading: t(`outcome.${id}.heading`),
        lead: t(`outcome.${id}.lead`),
        table: tableOf(rows),
      }
    }),
  ]
}

function noteOf(note: string, isRetryable = false): string {
  return isRetryable ? `${note}, retryable` : note
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(([code, note, ...t]) => `| ${[`\`${code}\``, note, ...t].join(' | ')} |`)
  return [
    '| code | comes with | when | agent does | operator does |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}
