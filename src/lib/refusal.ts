/** Retryable: the very same request may succeed later. Titles are fixed (RFC 9457). */
const rule = (status: number, title: string, retryable = false) => ({ status, title, retryable })
export type Rule = Readonly<ReturnType<typeof rule>>

export const rules = {
  invalid_parameter: rule(400, 'Invalid parameter'),
  unknown_parameter: rule(400, 'Unknown parameter'),
  repeated_parameter: rule(400, 'Repeated parameter'),
  invalid_url: rule(400, 'Invalid URL'),
  invalid_json: rule(400, 'Invalid JSON'),
  invalid_body: rule(422, 'Invalid request body'),
  invalid_header: rule(400, 'Invalid header'),
  unsupported_media_type: rule(415, 'Unsupported media type'),
  body_too_large: rule(413, 'Request body too large'),
  not_found: rule(404, 'Not found'),
  method_not_allowed: rule(405, 'Method not allowed'),
  offer_not_found: rule(404, 'Offer not found'),
  offer_unavailable: rule(409, 'Offer currently unavailable', true),
  price_above_maximum: rule(409, 'Price above your maximum'),
  order_not_found: rule(404, 'Order not found'),
  payment_invalid: rule(402, 'Invalid payment'),
  payment_mismatch: rule(402, 'Payment does not match this purchase'),
  payment_reused: rule(409, 'Payment already used'),
  possible_duplicate: rule(409, 'Possibly bought already'),
  quote_used: rule(409, 'Quote already paid'),
  quote_expired: rule(410, 'Quote expired'),
  idempotency_conflict: rule(409, 'Idempotency key used by another request'),
  idempotency_key_missing: rule(400, 'Idempotency key missing'),
  no_receipt: rule(409, 'No receipt available'),
  no_webhook: rule(404, 'No webhook'),
  not_refundable: rule(409, 'Order not refundable'),
  refund_destination_refused: rule(422, 'Refunds go to the payer only'),
  sign_in_invalid: rule(401, 'Invalid sign-in'),
  limit_exceeded: rule(403, 'Wallet spending limit exceeded'),
  approval_required: rule(403, 'Approval by a person required', true),
  approval_declined: rule(403, 'Purchase declined by a person'),
  purchase_declined: rule(403, 'Purchase declined'),
  rate_limited: rule(429, 'Too many requests', true),
  budget_spent: rule(429, 'Too many failed attempts', true),
  store_paused: rule(503, 'Store paused', true),
  try_again: rule(503, 'Temporarily unavailable', true),
  too_costly: rule(503, 'Network fees too high', true),
}
export type RefusalCode = keyof typeof rules

/** Its own message is for the operator's log only. */
export const internalRule = rule(500, 'Internal error', true)

/** Whether the buyer's money moved, as errors publish it. */
export type Charged = 'no' | 'yes' | 'unknown'

export interface RefusalDetails {
  readonly parameter?: string
  readonly allowed?: readonly string[]
  /** The messages are made from them. */
  readonly faults?: readonly Fault[]
  readonly retryAfterSeconds?: number
  /** Absent where no money can be involved (docs/agents/errors.md). */
  readonly charged?: Charged
  /** Checking its payment or sign-in cost calls and showed nothing, so it counts as a refused one. Never published. */
  readonly provesNothing?: true
  readonly extra?: Readonly<Record<string, unknown>>
}

/** The message may be shown to the caller. Every other exception is a defect and becomes a 500 without details. */
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

export function refusalWith(
  { code, message, details }: Refusal,
  paymentFacts: Pick<RefusalDetails, 'charged' | 'provesNothing'>,
): Refusal {
  return new Refusal(code, message, { ...details, ...paymentFacts })
}

/** For work on a request whose payment is known to have moved no money: refusals say so. */
export function whileUnpaid<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw error instanceof Refusal ? refusalWith(error, { charged: 'no' }) : error
  }
}

/** A body with more faults than this is no attempt at one, and an answer to it must not be many times its size. */
const maxFaults = 40

/** Only the first fault of each field; unknown fields come last, so that no number of them hides another fault. */
export function invalidBody(allFaults: readonly Fault[]): Refusal {
  const fields = new Set<string>()
  const distinct = allFaults.filter(({ field }) => fields.size < fields.add(field).size)
  const isUnknown = ({ code }: Fault) => code === 'unknown_field'
  const known = distinct.filter((fault) => !isUnknown(fault))
  const faults = [...known, ...distinct.filter(isUnknown)].slice(0, maxFaults)
  const [first, second] = faults
  const message = faults.map(({ field, code }) => `${field} ${code}`).join(', ')
  if (!first || second) return new Refusal('invalid_body', message, { faults })
  const { field: parameter, didYouMean } = first
  const extra = didYouMean === undefined ? {} : { extra: { didYouMean } }
  return new Refusal('invalid_body', message, { faults, parameter, ...extra })
}

/** The API and the website each word it themselves. */
export type Fault = FaultReason & {
  readonly field: string
  readonly didYouMean?: string | number
}

export type FaultCode = FaultReason['code']

export type FaultReason = Readonly<
  | {
      code:
        | 'missing'
        | 'missing_offer'
        | 'malformed'
        | 'unknown_field'
        | 'several'
        | 'fixed_price'
        | 'impossible_number'
        | 'not_mobile'
        /** No numbering plan contains it. The buyer may confirm it. */
        | 'unassigned_number'
        | 'foreign_esim'
        | 'own_address'
    }
  /** US dollars with two decimals. */
  | { code: 'missing_value' | 'out_of_range'; min: string; max: string; step: string }
  | { code: 'other_calling_code'; found: string; country: string; wanted: string }
  | { code: 'other_country'; found: string; country: string }
  /** Counts from 1. */
  | { code: 'malformed_item'; position: number }
  | { code: 'unknown_limit' | 'no_limit' | 'unknown_coin' | 'other_esim'; known: readonly string[] }
  | { code: 'bad_address'; reason: AddressFault }
>

export type AddressFault =
  | 'missing'
  | 'spaces'
  | 'no_address'
  | 'link'
  | 'mistyped'
  | 'wrong_coin'
  | 'test_network'
  | 'unpayable'
