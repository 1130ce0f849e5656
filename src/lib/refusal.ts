import type { Fault } from './fault.ts'

/** The code of every refused request. The HTTP layer maps each to a status. */
export const refusalCodes = [
  'invalid_parameter',
  'unknown_parameter',
  'repeated_parameter',
  'invalid_url',
  'invalid_json',
  'invalid_body',
  'invalid_header',
  'unsupported_media_type',
  'body_too_large',
  'not_found',
  'method_not_allowed',
  'offer_not_found',
  'offer_unavailable',
  'price_above_maximum',
  'order_not_found',
  'payment_invalid',
  'payment_mismatch',
  'payment_reused',
  'idempotency_conflict',
  'idempotency_key_missing',
  'no_receipt',
  'no_webhook',
  'not_refundable',
  'refund_destination_refused',
  'sign_in_invalid',
  'limit_exceeded',
  'approval_required',
  'approval_declined',
  'rate_limited',
  'budget_spent',
  'store_paused',
  'try_again',
  'too_costly',
] as const
export type RefusalCode = (typeof refusalCodes)[number]

export interface RefusalDetails {
  /** The parameter at fault, if there is only one. */
  readonly parameter?: string
  /** The accepted values, if they are a list. */
  readonly allowed?: readonly string[]
  /** All faults of a body. The messages are made from them. */
  readonly faults?: readonly Fault[]
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number
  /** Whether the buyer's money moved (docs/agents/errors.md). Absent where no money can be involved. */
  readonly charged?: 'no' | 'yes' | 'unknown'
  /** Further facts for the caller, by their published names. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * A request that the store refuses. The message may be shown to the caller.
 *
 * Every other exception is a defect of the store and becomes a 500 without details.
 */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly details: RefusalDetails

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.details = details
  }
}

/** Refuses a body. Reports only the first fault of each field. */
export function invalidBody(found: readonly Fault[]): Refusal {
  const faults = found.filter(
    ({ field }, at) => found.findIndex((fault) => fault.field === field) === at,
  )
  const [first] = faults
  const message = faults.map(({ field, code }) => `${field} ${code}`).join(', ')
  return new Refusal('invalid_body', message, {
    faults,
    ...(faults.length === 1 && first ? onlyFault(first) : {}),
  })
}

function onlyFault({ field, didYouMean }: Fault): RefusalDetails {
  return { parameter: field, ...(didYouMean === undefined ? {} : { extra: { didYouMean } }) }
}
