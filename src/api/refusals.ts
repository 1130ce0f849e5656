import * as z from 'zod'
import type { KindDefinition } from '../catalog/kinds/kind.ts'
import { goods } from '../catalog/kinds.ts'
import { kinds } from '../catalog/offer.ts'
import { echoOf } from '../catalog/search/params.ts'
import { webhookForm } from '../catalog/webhook-url.ts'
import {
  type Charged,
  type Fault,
  type FaultCode,
  internalRule,
  type Refusal,
  rules,
} from '../lib/refusal.ts'
import { LimitMoney } from '../orders/price.ts'
import { maxRecipients } from '../orders/spending-limits/keep.ts'
import { OrderRecord, OrderState } from './orders/order.ts'

/** The detail of unexpected errors. Their own message goes only to the log. */
const internalDetail = 'Something went wrong on our side. It was recorded and is not your fault.'

const allowed = z.array(z.string()).describe('The values that would have been taken')
const didYouMean = z.union([z.string(), z.number()]).describe('What was probably meant')

/** The error body of the discovery interface (docs/agents/errors.md). */
export const DiscoveryError = z
  .object({
    error: z.string().describe('What is wrong, in a sentence'),
    parameter: z.string().optional(),
    allowed: allowed.optional(),
    didYouMean: didYouMean.optional(),
    retryAfterSeconds: z.int().min(1).optional(),
  })
  .meta({ id: 'DiscoveryError' })

/** The error body of every other interface: an RFC 9457 problem document. */
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
    orderId: z
      .string()
      .optional()
      .describe(
        'The order that the payment or the key belongs to, or that may be the same purchase',
      ),
    orderIds: z
      .array(z.string())
      .optional()
      .describe('If several may be the same purchase: all of ten minutes, the newest first'),
    state: OrderState.optional().describe('The state of that order'),
    order: OrderRecord.optional().describe('What anyone may see of the order that was paid for'),
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
    refund_rule: z.string().optional().describe('When such an order is refunded'),
    contact: z.string().optional().describe('Where to complain about an order; name its orderId'),
  })
  .meta({ id: 'Problem' })

export function discoveryError(refusal: Refusal | undefined): Record<string, unknown> {
  if (refusal === undefined) return { error: internalDetail }
  const { parameter, allowed, retryAfterSeconds, extra } = refusal.details
  return defined({ ...extra, error: refusal.message, parameter, allowed, retryAfterSeconds })
}

export interface ErrorContext {
  readonly siteUrl: string
  readonly requestId: string
  /** `charged` of a refusal that does not set it: unknown for a request that may have brought a payment. */
  readonly charged: Charged | undefined
}

/** On paths that report `charged`, an unexpected error always says `unknown`. */
export function problem(
  refusal: Refusal | undefined,
  { siteUrl, requestId, charged }: ErrorContext,
): Record<string, unknown> {
  const { status, title, retryable } = refusal ? rules[refusal.code] : internalRule
  const code = refusal?.code ?? 'internal_error'
  const {
    extra,
    faults,
    charged: refusalCharged = charged,
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
    charged: refusal ? refusalCharged : charged && 'unknown',
  })
}

function defined(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** The sentence of each fault, which follows the name of its field; braces contain the names of its values. */
const sentences: Readonly<Record<FaultCode, string>> = {
  missing: 'is required for this offer',
  missing_offer: 'is required: the id of an offer',
  malformed: '{form}',
  malformed_item: '{form}. Item {position} is not valid',
  unknown_field: 'is not a field of this purchase',
  several:
    'cannot be chosen: a purchase is of one. To buy several, send one purchase each, with a new idempotency key each',
  fixed_price: 'is only for open-value (RANGE) offers',
  missing_value: 'is required: from {min} to {max} USD in steps of {step}',
  out_of_range: 'must be from {min} to {max} USD in steps of {step}',
  impossible_number: 'is not a possible phone number',
  other_calling_code: 'has the calling code +{found}; this offer is for {country}, +{wanted}',
  other_country: 'is a number of {found}; this offer is for {country}',
  not_mobile: 'is not a mobile number',
  unassigned_number:
    'is not in any numbering plan known here; if it is right, send confirmNumber: true',
  foreign_esim: 'is not an eSIM bought here by this wallet, and the supplier does not know it',
  other_esim: 'is an eSIM of another brand; only plans of {known} can recharge it',
  unknown_limit: 'is not a limit; the limits are {known}',
  no_limit: 'or another limit is required: send one of {known}. To lift all limits, send DELETE',
  unknown_coin: 'must be one of {known}',
  bad_address: 'is not an address that a refund can be sent to',
  own_address: 'is an address of this store; give one of your own',
}

const usdcAmount =
  'must be an amount of USDC written as text, with at most 9 digits and 6 decimals, such as "25" or "12.50"'

const forms: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    kinds.flatMap((kind) => {
      const { fields }: KindDefinition = goods[kind]
      return Object.entries(fields).map(([name, { form }]) => [name, form])
    }),
  ),
  value: 'must be a number of US dollars with at most 2 decimals, such as 25 or 12.5',
  maxUsdc: 'must be a number of USDC with at most 6 decimals, such as 25 or 12.5',
  webhookUrl: webhookForm,
  confirmAnother: 'must be true or false',
  perOrderUsdc: usdcAmount,
  perDayUsdc: usdcAmount,
  kinds: `must be a list of one or more of ${kinds.join(', ')}; leave it out to allow every kind`,
  countries:
    'must be a list of one or more ISO 3166-1 alpha-2 codes, such as ["US", "DE"]; leave it out to allow every country',
  recipients: `must be a list of 1 to ${maxRecipients} phone numbers in E.164 form ("+5355564362"), e-mail addresses or ICCIDs; leave it out to allow everyone`,
}

export function publishedFault(fault: Fault) {
  const { field, didYouMean } = fault
  const parameter = echoOf(field)
  const values = { ...fault, form: forms[field] ?? 'is not valid' }
  const message = filled(sentences[fault.code], values)
  if (didYouMean === undefined) return { parameter, message: message }
  return { parameter, message: `${message}; did you mean ${didYouMean}?`, didYouMean }
}

export function faultsDetail(faults: readonly Fault[]): string {
  const published = faults.map(publishedFault)
  const detail = published.map(({ parameter, message }) => `${parameter} ${message}`).join('; ')
  return detail.endsWith('?') ? detail : `${detail}.`
}

function filled(sentence: string, values: Readonly<Record<string, unknown>>): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    return Array.isArray(value) ? value.join(', ') : String(value)
  })
}
