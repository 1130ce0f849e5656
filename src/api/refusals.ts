import * as z from 'zod'
import { type Charged, internalRule, type Refusal, rules } from '../lib/refusal.ts'
import { LimitMoney } from '../orders/spending-limits/rules.ts'
import { faultsDetail, publishedFault } from './fault-words.ts'
import { OrderState } from './orders/order.ts'

/** The detail of unexpected errors. Their own message goes only to the log. */
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

/** Further fields of refusals because of a wallet's spending limits. */
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
      .describe('The faults of a body, 20 at most'),
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

/** The context of an error that its body needs. */
export interface ErrorContext {
  readonly siteUrl: string
  readonly requestId: string
  /** `charged` of a refusal that does not set it: unknown for a request that may have brought a payment. */
  readonly charged: Charged | undefined
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
 * On paths that report `charged`, a refusal that does not set it says what is known of any such request, and an
 * unexpected error always says `unknown`.
 */
export function problem(
  refusal: Refusal | undefined,
  { siteUrl, requestId, charged }: ErrorContext,
): Record<string, unknown> {
  const { status, title, retryable } = refusal ? rules[refusal.code] : internalRule
  const code = refusal?.code ?? 'internal_error'
  const {
    extra,
    faults,
    charged: known = charged,
    provesNothing: _,
    ...details
  } = refusal?.details ?? {}
  return defined({
    ...extra,
    type: `${siteUrl}/errors#${code}`,
    title,
    status,
    detail: faults ? faultsDetail(faults) : (refusal?.message ?? internalDetail),
    code,
    ...details,
    ...(faults && { errors: faults.map(publishedFault) }),
    requestId,
    retryable,
    charged: refusal ? known : charged && 'unknown',
  })
}

function defined(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}
