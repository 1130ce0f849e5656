import * as z from 'zod'
import type { Refusal, RefusalCode } from '../lib/refusal.ts'
import { LimitMoney } from '../orders/spending-limits/answer.ts'
import type { Charge } from './buying/charge.ts'
import { faultsDetail, publishedFault } from './fault-words.ts'
import { OrderState } from './orders/order.ts'

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

/** The published shapes of errors (docs/agents/errors.md). */

const allowed = z.array(z.string()).describe('The values that would have been taken')
const didYouMean = z.union([z.string(), z.number()]).describe('What was probably meant')

/** The error body of the discovery interface. */
export const DiscoveryError = z
  .object({
    error: z.string().describe('What is wrong, in a sentence'),
    parameter: z.string().optional(),
    allowed: allowed.optional(),
    didYouMean: didYouMean.optional(),
    retryAfterSeconds: z.int().min(1).optional(),
  })
  .meta({ id: 'DiscoveryError' })

/** What a purchase beyond the limits of its wallet is told besides. */
const limitFacts = {
  limit: z
    .enum(['kinds', 'countries', 'recipients', 'per_order', 'per_day', 'approve_above'])
    .optional()
    .describe('The limit of the wallet that the purchase is beyond'),
  asked: z.union([z.string(), LimitMoney]).nullable().optional(),
  allows: LimitMoney.nullable().optional(),
  spent: LimitMoney.optional().describe('In the last 24 hours'),
  remaining: LimitMoney.nullable().optional(),
  until: z.iso
    .datetime()
    .nullable()
    .optional()
    .describe('When there will be room for it, or until when it is declined'),
  approvalUrl: z.url().optional().describe('The page on which a person approves the purchase'),
  expiresAt: z.iso.datetime().optional().describe('How long they have to decide'),
}

/** The error body of everything else: an RFC 9457 problem document. */
export const Problem = z
  .object({
    type: z.url().describe('The page about this code'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What is wrong here, in a sentence'),
    code: z.string().describe('Stable; what to program against'),
    parameter: z.string().optional().describe('The one parameter at fault'),
    allowed: allowed.optional(),
    didYouMean: didYouMean.optional(),
    errors: z
      .array(
        z.object({
          parameter: z.string(),
          message: z.string(),
          didYouMean: didYouMean.optional(),
        }),
      )
      .optional()
      .describe('Every fault of a body'),
    retryAfterSeconds: z.int().min(1).optional(),
    requestId: z.string().describe('Name it when you ask the operator'),
    retryable: z.boolean().describe('Whether the very same request may succeed later'),
    charged: z.enum(['no', 'yes', 'unknown']).optional().describe('Whether money moved'),
    reason: z.string().optional().describe('Why the offer is not sold now'),
    budget: z.string().optional().describe('Which budget is spent'),
    whose: z.string().optional().describe('Whose budget it is: payer, client or receiver'),
    most: LimitMoney.optional().describe('What a single purchase may cost just now'),
    price: LimitMoney.optional().describe('The exact price that is above the maximum'),
    agent_action: z.literal('stop').optional().describe('As the signals of the manifest say it'),
    orderId: z.string().optional().describe('The order that the payment or the key belongs to'),
    state: OrderState.optional().describe('The state of the order that is not refundable'),
    ...limitFacts,
    refund_rule: z.string().optional().describe('When such an order is refunded'),
  })
  .meta({ id: 'Problem' })

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
