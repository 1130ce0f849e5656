import type { Network, SettleResponse } from '@x402/core/types'
import { OFFER_RECEIPT } from '@x402/extensions/offer-receipt'
import * as z from 'zod'
import { goods } from '../../catalog/kinds.ts'
import { type Kind, kinds, type Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import {
  exampleBody,
  kindSchemaFor,
  understoodFields,
  wholeSchemaFor,
} from '../../catalog/purchase-body.ts'
import { otherOperator } from '../../catalog/question/operator.ts'
import type { Params } from '../../catalog/search/params.ts'
import { formatUsdc, type Usdc, usdc, usdcDecimals } from '../../lib/money.ts'
import { Refusal, refusalWith } from '../../lib/refusal.ts'
import { isPaid, type Order } from '../../orders/order.ts'
import {
  acceptsFor,
  foreignEsim,
  orTryAgain,
  type Priced,
  price,
  rechargedIccid,
  requireSold,
} from '../../orders/price.ts'
import { type PurchaseAnswer, purchase } from '../../orders/purchase.ts'
import type { PurchaseRequest, Viewer } from '../../orders/replay.ts'
import { PaymentPayload, termsOf, termsValidSeconds } from '../../payments/terms.ts'
import {
  answers,
  type BuyingDeps,
  type Credentials,
  type HeaderParam,
  type Operation,
  type OrderOperation,
  type PaymentRequiredDeps,
  type ProofLimit,
  purchasePath,
  refusesBody,
  titleOf,
} from '../operation.ts'
import {
  laterHeaders,
  OrderAnswer,
  OrderStanding,
  paymentReused,
  publicStatusOf,
  transactionOf,
} from '../orders/order.ts'
import {
  idempotencyKey,
  signedInIfValid,
  viewerHeaders,
  viewerOf,
  viewerWithoutWallet,
} from './credentials.ts'
import { payableUrl } from './payable-url.ts'
import {
  exampleOf,
  PaymentTerms,
  type PaymentTransport,
  payableUrlShape,
  paymentRequired,
  purchaseSentence,
  routeDescription,
  withSignals,
} from './payment-required.ts'

const offerRefusals = [
  'invalid_body',
  'offer_not_found',
  'offer_unavailable',
  'price_above_maximum',
  'purchase_declined',
] as const

const paymentHeaders: Readonly<Record<string, HeaderParam>> = {
  ...viewerHeaders,
  'PAYMENT-SIGNATURE': {
    schema: { type: 'string', description: 'The signed x402 payment, base64 of JSON.' },
  },
  'Idempotency-Key': idempotencyKey,
  Prefer: {
    schema: {
      type: 'string',
      description:
        'wait=N: wait at most N seconds for the goods. respond-async: do not wait. payable-url: name the payableUrl in the 402.',
    },
  },
}

const paidHeaders = {
  'PAYMENT-RESPONSE': 'The receipt of the payment, once it is proven; base64 of JSON.',
  'Idempotent-Replayed': 'true: this order was opened by an earlier request.',
}
const repeatable = OrderAnswer.or(OrderStanding)

export const purchases: readonly (Operation & { readonly kind: Kind })[] = kinds.map((kind) => ({
  id: `purchase${titleOf(kind)}`,
  kind,
  method: 'POST',
  path: purchasePath(kind),
  group: 'Buying',
  name: goods[kind].words.purchase,
  description: `${goods[kind].words.buys} Paid per call in USDC on the Base network through x402. Send it without a payment first: the 402 names the exact price. Sign that and send the same request with the payment. ${goods[kind].refundRule}`,
  headers: paymentHeaders,
  body: wholeSchemaFor(kind),
  answers: {
    200: { description: 'Paid and delivered', shape: repeatable, headers: paidHeaders },
    202: {
      description:
        'Not delivered yet, or it is not known yet whether the money moved. Look again; never pay again.',
      shape: repeatable,
      headers: { ...paidHeaders, ...laterHeaders },
    },
  },
  refusals: [
    ...offerRefusals,
    ...refusesBody,
    'invalid_header',
    'payment_invalid',
    'payment_mismatch',
    'payment_reused',
    'possible_duplicate',
    'idempotency_conflict',
    'sign_in_invalid',
    'limit_exceeded',
    'approval_required',
    'approval_declined',
    'budget_spent',
    'store_paused',
    'try_again',
    'too_costly',
  ],
  limit: 'purchase',
  charges: true,
  access: { pays: kind },
}))

export interface PurchaseCall {
  readonly kind: Kind | undefined
  readonly fields: Record<string, unknown>
  readonly presented: Presented
  readonly readCredentials: () => Credentials
  readonly patienceMs: number | undefined
  /** The price above which a person must approve, as the host of the buyer has set it. */
  readonly approveAbove?: Usdc | undefined
  readonly transport: PaymentTransport
  /** The address that holds the purchase. */
  readonly sealed?: PurchaseRequest['sealed']
  /** Whether a demand should have an address that holds the purchase. */
  readonly asksForUrl?: boolean
  readonly client: string
  /** Set if the call may only find the order that it has already paid for. */
  readonly heldUp: Refusal | undefined
}

export type PurchaseOutcome = Awaited<ReturnType<typeof buy>>

export async function buy(deps: BuyingDeps, rawCall: PurchaseCall) {
  const call = { ...rawCall, fields: understoodFields(rawCall.fields) }
  const { kind, fields, presented, patienceMs, approveAbove, client, sealed } = call
  if (presented.type !== 'payment' && call.heldUp) throw call.heldUp
  if (presented.type === 'unreadable') return answerUnreadable(deps, call, presented.reason)
  if (presented.type === 'none' && kind && Object.keys(rawCall.fields).length === 0) {
    return probe(deps, kind, call)
  }
  const callerRequest =
    presented.type === 'none'
      ? { payment: undefined, viewer: await viewerOf(deps, call.readCredentials()) }
      : requestWithPayment(deps, call, presented)
  const answer = await purchase(deps.purchases, {
    ...{ kind, fields, patienceMs, approveAbove, client, sealed },
    ...callerRequest,
    isAnother: isAnother(call, callerRequest.viewer),
  })
  return answer.type === 'order' ? outcomeOf(deps, call, answer) : demand(deps, call, answer)
}

/** Models make keys up, so that another one does not show that they mean another purchase. */
function isAnother({ fields, transport }: PurchaseCall, { keys = [] }: Viewer): boolean {
  return fields['confirmAnother'] === true || (transport.keysTellPurchases && keys.length > 0)
}

/**
 * A caller with a payment may have paid before. Then the credentials only decide whether they see the goods: a
 * malformed key or a used sign-in proves nothing, but is no reason to refuse.
 */
function requestWithPayment(
  deps: BuyingDeps,
  { readCredentials, heldUp }: PurchaseCall,
  { payment }: Extract<Presented, { type: 'payment' }>,
): Pick<PurchaseRequest, 'payment' | 'viewer' | 'signedIn' | 'heldUp'> {
  try {
    const credentials = readCredentials()
    const viewer = viewerWithoutWallet(credentials, payment)
    // Checking a signature costs calls to the chain, so it is not done for callers above a limit.
    const signedIn = heldUp ? undefined : () => signedInIfValid(deps.signIn, credentials.signIn)
    return { payment, viewer, signedIn, heldUp }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { payment, viewer: {}, heldUp: heldUp ?? error }
  }
}

async function probe(deps: BuyingDeps, kind: Kind, { transport }: PurchaseCall) {
  const { liveCatalog, payee } = deps.purchases
  const lowest = liveCatalog.current().lowest[kind]
  if (lowest === undefined) {
    throw new Refusal('offer_unavailable', `No ${kind} is on sale just now.`)
  }
  const { type, required } = kindSchemaFor(kind)
  const demanded = await paymentRequired(deps.demands, transport, {
    kind,
    accepts: [termsOf(lowest, payee)],
    validSeconds: termsValidSeconds,
    error: 'Payment required',
    description: routeDescription(deps.site, kind),
    bodySchema: { type, required },
    example: exampleOf(deps.purchases, kind),
  })
  return { type: 'payment_required' as const, ...demanded }
}

/** It is not stored, and cannot have moved any money. */
async function answerUnreadable(deps: BuyingDeps, call: PurchaseCall, reason: string) {
  try {
    const priced = price(deps.purchases, call.kind, call.fields)
    const { offer, lineItem } = priced
    const fault = { code: 'payment_invalid', reason }
    const accepts = acceptsFor(deps.purchases, priced)
    return await demand(deps, call, { type: 'payment_required', accepts, offer, lineItem, fault })
  } catch (error) {
    throw error instanceof Refusal ? refusalWith(error, { charged: 'no' }) : error
  }
}

async function demand(
  deps: BuyingDeps,
  { transport, fields, sealed, asksForUrl }: PurchaseCall,
  { accepts, offer, lineItem, fault }: Extract<PurchaseAnswer, { type: 'payment_required' }>,
) {
  const retail = retailOf(offer, deps.purchases.pricing)
  const [terms] = accepts
  const promise = String(terms.extra['quote'])
  const demanded = await paymentRequired(deps.demands, transport, {
    kind: offer.kind,
    accepts,
    validSeconds: deps.purchases.quotes.secondsLeft(promise),
    error: fault?.reason ?? 'Payment required',
    ...(fault ? { code: fault.code } : {}),
    description: describe(offer),
    // Whoever has a sealed address may see what it sells, and not for whom.
    ...(sealed ? {} : { bought: purchaseSentence(offer, lineItem, usdc(terms.amount)) }),
    payableUrl: asksForUrl ? payableUrl(deps, { fields, promise }) : undefined,
    example: exampleBody(offer, retail),
  })
  return { type: 'payment_required' as const, ...demanded }
}

function describe(offer: Offer): string {
  const text = [offer.brandName, offer.shortNotes ?? offer.productType, offer.country ?? '']
  return text
    .map((part) => part.replace(/\.$/, ''))
    .filter((part) => part !== '')
    .join(', ')
}

async function outcomeOf(
  deps: BuyingDeps,
  { transport }: PurchaseCall,
  answer: Extract<PurchaseAnswer, { type: 'order' }>,
) {
  const { order } = answer
  const isDelivered = order.state === 'FULFILLED'
  if (!answer.reveal) {
    if (answer.isOther) throw paymentReused(order)
    const body = publicStatusOf(order, 'payment')
    return { type: 'standing' as const, body, came: isDelivered, orderId: order.id }
  }
  return { ...answer, came: isDelivered, settled: await settledOf(deps.demands, transport, order) }
}

export type Presented =
  | { readonly type: 'none' }
  | { readonly type: 'payment'; readonly payment: PaymentPayload }
  | { readonly type: 'unreadable'; readonly reason: string }

export const versionOne: Presented = {
  type: 'unreadable',
  reason: 'This store does not take x402 version 1. Pay with version 2',
}

/** Never throws, because it may come from an attacker. */
export function presentedIn(
  decoded: unknown,
  answerUnreadable: (why: string) => Presented,
): Presented {
  if (VersionOne.safeParse(decoded).success) return versionOne
  const parsed = PaymentPayload.safeParse(decoded)
  if (parsed.success) return { type: 'payment', payment: parsed.data }
  const [issue] = parsed.error.issues
  return answerUnreadable(`${issue?.path.join('.') || 'its content'} is missing or malformed`)
}

const VersionOne = z.object({ x402Version: z.literal(1) })

/** The same at every request. Undefined until it is proven, unsigned if the chain dropped it. */
async function settledOf(
  { site, issuer }: PaymentRequiredDeps,
  transport: PaymentTransport,
  order: Order,
): Promise<SettleResponse | undefined> {
  const transaction = transactionOf(order)
  if (transaction === null) return undefined
  const { payer } = order.payment
  const network = order.payment.network as Network
  const settled = { success: true, transaction, network, payer, amount: order.amount.toString() }
  if (!isPaid(order)) return { ...settled, extensions: {} }
  const receipt = await issuer.signReceipt({
    version: 1,
    network,
    resourceUrl: transport.resource(site, order.item.kind),
    payer,
    issuedAt: Math.floor(order.paidAt.getTime() / 1_000),
    transaction,
  })
  const schema = { type: 'object', required: ['receipt'] }
  return { ...settled, extensions: { [OFFER_RECEIPT]: { info: { receipt }, schema } } }
}

const QuoteAnswer = z
  .object({
    offerId: z.string(),
    kind: z.enum(kinds),
    usdc: z.object({ amount: z.string().regex(/^\d+$/), decimals: z.literal(6) }),
    display: z.string().describe('The price for people: "25.00 USDC"'),
    message: z.string().describe('What is bought and for how much, in a sentence'),
    warning: z
      .string()
      .optional()
      .describe('Why the purchase may be of no use, such as the number of another operator'),
    validUntil: z.iso.datetime(),
    accepts: z.array(PaymentTerms).length(1),
    purchase: z.object({ method: z.literal('POST'), url: z.url() }),
    payableUrl: payableUrlShape,
    refundRule: z.string(),
  })
  .meta({ id: 'Quote' })

export const quotes: readonly (OrderOperation & { readonly kind: Kind })[] = kinds.map((kind) => ({
  id: `quote${titleOf(kind)}`,
  kind,
  method: 'GET',
  path: purchasePath(kind),
  group: 'Buying',
  name: `Price of one ${goods[kind].words.noun}`,
  description:
    'The check of a purchase and its exact price, free. Takes the fields of the body in the query; nothing is stored.',
  query: quoteParamsOf(kind),
  needs: kindSchemaFor(kind)['required'] as readonly string[],
  answers: answers('The price', QuoteAnswer),
  refusals: [
    ...offerRefusals,
    'invalid_parameter',
    'repeated_parameter',
    'store_paused',
    'too_costly',
  ],
  limit: 'purchase',
  charges: true,
  access: 'free',
  run: async (call, deps) => ({ body: await quote(deps, kind, call.fields(), call.proofs) }),
}))

/** Validated later, with the offer. */
function quoteParamsOf(kind: Kind): Params {
  const { properties } = wholeSchemaFor(kind) as { properties: Record<string, object> }
  const described = Object.entries(properties).map(([name, schema]) => {
    const param = { schema: { description: 'From a search or the catalog', ...schema } }
    return [name, { ...param, read: (_: string, text: string) => text }]
  })
  return Object.fromEntries(described)
}

export async function quote(
  deps: BuyingDeps,
  requestedKind: Kind | undefined,
  fields: Record<string, unknown>,
  limit: ProofLimit,
) {
  const understood = understoodFields(fields)
  const priced = price(deps.purchases, requestedKind, understood)
  requireSold(deps.purchases.health, priced, true)
  const isLookedUp = await lookUpEsim(deps, priced, limit)
  const { kind } = priced.offer
  const accepts = acceptsFor(deps.purchases, priced)
  const [{ amount, extra }] = accepts
  const promise = String(extra['quote'])
  const now = deps.purchases.now()
  const warning = operatorWarning(deps, priced)
  return {
    offerId: priced.offer.id,
    kind,
    usdc: { amount, decimals: usdcDecimals },
    display: `${formatUsdc(usdc(amount))} USDC`,
    message: `${purchaseSentence(priced.offer, priced.lineItem, usdc(amount))}. Nothing is bought yet.${isLookedUp ? '' : notLookedUp}`,
    ...(warning === undefined ? {} : { warning }),
    validUntil: new Date(now.getTime() + termsValidSeconds * 1_000).toISOString(),
    accepts: accepts.map((terms) => withSignals(deps.demands, kind, terms)),
    purchase: { method: 'POST', url: `${deps.site.url}${purchasePath(kind)}` },
    payableUrl: payableUrl(deps, { fields: understood, promise }),
    refundRule: goods[kind].refundRule,
  }
}

function operatorWarning(
  { purchases }: BuyingDeps,
  { offer, lineItem: { recipient } }: Priced,
): string | undefined {
  if (recipient.kind !== 'topup') return undefined
  const { topup } = purchases.liveCatalog.current().sold
  const other = otherOperator(topup, offer, recipient.msisdn)
  if (other === undefined) return undefined
  return `The number was first assigned to ${other}, and this is a topup of ${offer.brandName}. Ask whose it is now: a topup of another operator may be lost or fail.`
}

const notLookedUp =
  ' The eSIM could not be looked up just now. It is looked up when you pay, before any money moves.'

/** False if it could not be looked up now. @throws Refusal `invalid_body`, `rate_limited` */
async function lookUpEsim(deps: BuyingDeps, priced: Priced, limit: ProofLimit): Promise<boolean> {
  if (rechargedIccid(priced) === undefined) return true
  const above = await limit.mayProve()
  if (above) throw above
  const { report } = deps.purchases
  const looked = () => foreignEsim(deps.purchases, priced, undefined)
  const refusal = await orTryAgain(report, 'no', looked)
  if (refusal === undefined) return true
  await limit.provedNothing()
  if (refusal.code === 'try_again') return false
  throw refusal
}
