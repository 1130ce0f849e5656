import type { Refusal, RefusalCode } from '../lib/refusal.ts'
import type { Charge } from './buying/charge.ts'
import { faultsDetail, publishedFault } from './fault-words.ts'

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

/** What each reason looks like from outside. A new reason does not compile without its line. */
export const rules: Readonly<Record<RefusalCode, Rule>> = {
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
  rate_limited: rule(429, 'Too many requests', true),
  budget_spent: rule(429, 'Too many failed attempts', true),
  store_paused: rule(503, 'Store paused', true),
  try_again: rule(503, 'Temporarily unavailable', true),
  too_costly: rule(503, 'Network fees too high', true),
}

/** What an unexpected error says. Its own message is for the operator's log only. */
export const internalRule: Rule = rule(500, 'Internal error', true)
const internalDetail = 'Something went wrong on our side. It was recorded and is not your fault.'

/** Where an error happened, as far as its body tells. */
export interface ErrorContext {
  readonly siteUrl: string
  readonly requestId: string
  /** What is known of the request's money; undefined on paths that are not about money. */
  readonly charge: Charge | undefined
}

/** The error body of the discovery interface (docs/agents/errors.md). Undefined: an unexpected error. */
export function discoveryError(refusal: Refusal | undefined): Record<string, unknown> {
  if (refusal === undefined) return { error: internalDetail }
  const { parameter, allowed, retryAfterSeconds, extra } = refusal.details
  return defined({ ...extra, error: refusal.message, parameter, allowed, retryAfterSeconds })
}

/**
 * The error body of every other interface: an RFC 9457 problem document (docs/agents/errors.md).
 *
 * On paths about money a refusal that does not say otherwise charged nothing, as far as that is known
 * of the request, and an unexpected error never claims to know.
 */
export function problem(
  refusal: Refusal | undefined,
  { siteUrl, requestId, charge }: ErrorContext,
): Record<string, unknown> {
  const { status, title, retryable } = refusal ? rules[refusal.code] : internalRule
  const code = refusal?.code ?? 'internal_error'
  const { extra, faults, charged: _, ...details } = refusal?.details ?? {}
  return defined({
    ...extra,
    type: `${siteUrl}/errors#${code}`,
    title,
    status,
    detail: faults ? faultsDetail(faults) : (refusal?.message ?? internalDetail),
    code,
    ...details,
    errors: faults?.map(publishedFault),
    requestId,
    retryable,
    charged: chargedIn(refusal, charge),
  })
}

/** No refusal knows more of the money of a request than the store does. */
function chargedIn(refusal: Refusal | undefined, charge: Charge | undefined) {
  if (refusal === undefined) return charge && 'unknown'
  const charged = refusal.details.charged ?? charge?.known
  return charged === 'no' ? (charge?.known ?? charged) : charged
}

function defined(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}
