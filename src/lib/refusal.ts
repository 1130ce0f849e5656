/** How a refusal looks from outside. */
export interface Rule {
  readonly status: number
  /** The same words for every refusal of a code (RFC 9457). */
  readonly title: string
  /** Whether the very same request may succeed later. */
  readonly retryable: boolean
}

const rule = (status: number, title: string, retryable = false): Rule => ({
  status,
  title,
  retryable,
})

/** Every code of a refused request, with the answer that it gets; in the order of the tables of errors. */
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
} satisfies Readonly<Record<string, Rule>>
export type RefusalCode = keyof typeof rules

/** How an unexpected error is answered. Its own message is for the operator's log only. */
export const internalRule: Rule = rule(500, 'Internal error', true)

/** Whether the buyer's money moved, as errors publish it. */
export type Charged = 'no' | 'yes' | 'unknown'

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
  readonly charged?: Charged
  /**
   * The payment or sign-in of the request was not shown to be good or the caller's, and checking it cost calls to
   * the chain or the supplier. It counts against the caller as a refused one. Never published.
   */
  readonly provesNothing?: true
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

/** The same refusal for a request of which this is known. */
export function refusalWith(
  { code, message, details }: Refusal,
  known: Pick<RefusalDetails, 'charged' | 'provesNothing'>,
): Refusal {
  return new Refusal(code, message, { ...details, ...known })
}

/** Does this for a request whose payment is known to have moved no money: refusals say so. */
export function whileUnpaid<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof Refusal ? refusalWith(error, { charged: 'no' }) : error
  }
}

/** A body with more faults than this is no attempt at one, and an answer to it must not be many times its size. */
const maxFaults = 20

/** Refuses a body. Reports only the first fault of each field. */
export function invalidBody(found: readonly Fault[]): Refusal {
  const faults = found
    .slice(0, maxFaults)
    .filter(({ field }, at) => found.findIndex((fault) => fault.field === field) === at)
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

/** One fault of one field of a request. The API and the website each word it themselves. */
export type Fault = FaultReason & {
  readonly field: string
  /** The value that the caller probably meant. */
  readonly didYouMean?: string | number
}

export type FaultCode = FaultReason['code']

/** The code of a fault, with the values that its message contains. */
export type FaultReason = Plain | Bounded | OtherPlace | Listed | BadAddress

interface Plain {
  readonly code:
    | 'missing'
    | 'missing_offer'
    /** The value does not have the format of this field. */
    | 'malformed'
    | 'unknown_field'
    /** More than one was asked for at once. */
    | 'several'
    /** A value was given for an offer with a fixed price. */
    | 'fixed_price'
    | 'impossible_number'
    | 'not_mobile'
    /** No numbering plan contains this number. The buyer may confirm it. */
    | 'unassigned_number'
    /** This eSIM cannot be topped up with the store's plans. */
    | 'foreign_esim'
    /** The address belongs to the store itself. */
    | 'own_address'
}

/** Amounts are US dollars with two decimals. */
interface Bounded {
  readonly code: 'missing_value' | 'out_of_range'
  readonly min: string
  readonly max: string
  readonly step: string
}

/** The phone number belongs to another country than the offer. */
type OtherPlace =
  | {
      readonly code: 'other_calling_code'
      readonly found: string
      readonly country: string
      readonly wanted: string
    }
  | { readonly code: 'other_country'; readonly found: string; readonly country: string }

type Listed =
  /** `position` counts from 1. */
  | { readonly code: 'malformed_item'; readonly position: number }
  | { readonly code: 'unknown_limit' | 'no_limit'; readonly known: readonly string[] }
  | { readonly code: 'unknown_coin'; readonly known: readonly string[] }

interface BadAddress {
  readonly code: 'bad_address'
  readonly reason: AddressFault
}

export type AddressFault =
  | 'missing'
  | 'spaces'
  | 'no_address'
  | 'link'
  | 'mistyped'
  | 'wrong_coin'
  | 'test_network'
  | 'unpayable'
