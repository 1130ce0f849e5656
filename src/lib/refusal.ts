/** Every reason why the store turns a request down. The HTTP edge gives each one its status. */
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
  'order_not_found',
  'payment_invalid',
  'payment_mismatch',
  'payment_reused',
  'idempotency_conflict',
  'idempotency_key_missing',
  'no_receipt',
  'not_refundable',
  'refund_destination_refused',
  'sign_in_invalid',
  'limit_exceeded',
  'rate_limited',
  'budget_spent',
  'store_paused',
  'try_again',
  'too_costly',
] as const
export type RefusalCode = (typeof refusalCodes)[number]

/** One thing wrong with one field of a request. */
export interface Fault {
  readonly parameter: string
  readonly message: string
  /** What was probably meant instead. */
  readonly didYouMean?: string | number
}

export interface RefusalDetails {
  /** The one parameter at fault. */
  readonly parameter?: string
  /** The values that would have been taken, where there is a list. */
  readonly allowed?: readonly string[]
  /** Every fault of a body, when there may be several. */
  readonly errors?: readonly Fault[]
  /** Whole seconds after which the same request may succeed. */
  readonly retryAfterSeconds?: number
  /** Whether the buyer's money moved (docs/errors.md). Absent where no money can be involved. */
  readonly charged?: 'no' | 'yes' | 'unknown'
  /** Further facts that the caller may see, by their published names. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * The caller asked for something that the store will not do, and the message may be shown to them.
 *
 * Anything else that is thrown is a defect of ours and answers 500 without a detail.
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
