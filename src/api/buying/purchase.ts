import { goods, kinds } from '../../catalog/good.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import {
  bodySchemaFor,
  exampleBody,
  kindSchemaFor,
  understood,
} from '../../catalog/purchase-body.ts'
import type { OrderId } from '../../lib/ids.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import { Refusal, refusalWith } from '../../lib/refusal.ts'
import { acceptsFor, price } from '../../orders/price.ts'
import { type PurchaseAnswer, purchase } from '../../orders/purchase.ts'
import type { PurchaseRequest } from '../../orders/replay.ts'
import { acceptsOf, termsValidSeconds } from '../../payments/terms.ts'
import type { BuyingDeps } from '../deps.ts'
import type { Credentials, HeaderParam, Operation } from '../operation.ts'
import {
  laterHeaders,
  OrderAnswer,
  OrderStanding,
  type OrderView,
  orderStanding,
} from '../orders/order.ts'
import { purchasePath, titleOf } from '../paths.ts'
import { idempotencyKey, knownBy, viewerHeaders, viewerOf } from './credentials.ts'
import { type Presented, type Settled, settledOf } from './payment.ts'
import {
  exampleOf,
  type PaymentTransport,
  paymentRequired,
  purchaseSentence,
  type RequiredPayment,
  routeDescription,
} from './payment-required.ts'
import { offerRefusals } from './quote.ts'
import { signedInIfValid } from './sign-in.ts'

const paymentHeaders: Readonly<Record<string, HeaderParam>> = {
  ...viewerHeaders,
  'PAYMENT-SIGNATURE': {
    schema: { type: 'string', description: 'The signed x402 payment, base64 of JSON.' },
  },
  'Idempotency-Key': idempotencyKey,
  Prefer: {
    schema: {
      type: 'string',
      description: 'wait=N: wait at most N seconds for the goods. respond-async: do not wait.',
    },
  },
}

const paidHeaders = {
  'PAYMENT-RESPONSE': 'The receipt of the payment, once it is proven; base64 of JSON.',
  'Idempotent-Replayed': 'true: this order was opened by an earlier request.',
}
/** A repeated payment without proof of ownership gets only the state of its order. */
const repeatable = OrderAnswer.or(OrderStanding)

export const purchases: readonly (Operation & { readonly kind: Kind })[] = kinds.map((kind) => ({
  id: `purchase${titleOf(kind)}`,
  kind,
  method: 'POST',
  path: purchasePath(kind),
  group: 'Buying',
  name: goods[kind].words.purchase,
  description: `${goods[kind].words.buys} Send it without a payment first: the 402 names the exact price. Sign that and send the same request with the payment. ${goods[kind].refundRule}`,
  headers: paymentHeaders,
  body: kindSchemaFor(kind),
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
    'unknown_parameter',
    'invalid_json',
    'invalid_header',
    'unsupported_media_type',
    'body_too_large',
    'payment_invalid',
    'payment_mismatch',
    'payment_reused',
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

/** A call that buys or asks for the price, as read by its transport. */
export interface PurchaseCall {
  /** Undefined if the transport has one call for all kinds; the offer then determines the kind. */
  readonly kind: Kind | undefined
  /** The flat fields of the purchase. */
  readonly fields: Record<string, unknown>
  readonly presented: Presented
  readonly shown: () => Credentials
  /** How long the buyer wants to wait for the goods at most; milliseconds. Undefined: no preference. */
  readonly patienceMs: number | undefined
  /** The price above which a person must approve, as the host of the buyer has set it. */
  readonly approveAbove?: Usdc | undefined
  readonly transport: PaymentTransport
  /** The client address, as the limits count it. */
  readonly client: string
  /** Set if the call may only find the order that it has already paid for. */
  readonly heldUp: Refusal | undefined
}

/** The outcome of a purchase: a demand for payment, or the order that it opened or found. */
export type PurchaseOutcome =
  | ({ readonly type: 'payment_required' } & RequiredPayment)
  | (OrderView & {
      readonly type: 'order'
      /** Whether the goods were delivered; if not, the delivery or a refund is under way or has ended. */
      readonly came: boolean
      readonly replayed: boolean
      /** The receipt of the payment, once it is proven. */
      readonly settled: Settled | undefined
    })
  | {
      /** All that a caller sees without proof that the payment is theirs. */
      readonly type: 'standing'
      readonly body: ReturnType<typeof orderStanding>
      readonly came: boolean
      /** Only for the log. */
      readonly orderId: OrderId
    }

/**
 * Buys, or answers with the terms.
 *
 * @throws Refusal if the offer is not sold like this, or not now
 */
export async function buy(deps: BuyingDeps, given: PurchaseCall): Promise<PurchaseOutcome> {
  const call = { ...given, fields: understood(given.fields) }
  const { kind, fields, presented, patienceMs, approveAbove, client } = call
  if (presented.type !== 'payment' && call.heldUp) throw call.heldUp
  if (presented.type === 'unreadable') return unreadable(deps, call, presented.reason)
  if (presented.type === 'none' && kind && Object.keys(given.fields).length === 0) {
    return probe(deps, kind, call)
  }
  const asked = presented.type === 'none' ? await asking(deps, call) : paying(deps, call, presented)
  const answer = await purchase(deps.purchases, {
    ...{ kind, fields, patienceMs, approveAbove, client },
    ...asked,
  })
  return answer.type === 'order' ? outcomeOf(deps, call, answer) : demand(deps, call, answer)
}

type CallerRequest = Omit<
  PurchaseRequest,
  'kind' | 'fields' | 'patienceMs' | 'approveAbove' | 'client'
>

/** Without a payment, every fault is reported at once. */
async function asking(deps: BuyingDeps, { shown }: PurchaseCall): Promise<CallerRequest> {
  return { payment: undefined, viewer: await viewerOf(deps, shown()) }
}

/**
 * A caller with a payment may have paid before. Then the credentials only decide whether they see the goods: a
 * malformed key or a used sign-in proves nothing, but is no reason to refuse.
 */
function paying(
  deps: BuyingDeps,
  { shown, heldUp }: PurchaseCall,
  { payment }: Extract<Presented, { type: 'payment' }>,
): CallerRequest {
  try {
    const told = shown()
    const viewer = knownBy(told, payment)
    // Checking a signature costs calls to the chain, so it is not done for callers above a limit.
    const signedIn = heldUp ? undefined : () => signedInIfValid(deps.signIn, told.signIn)
    return { payment, viewer, signedIn, heldUp }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { payment, viewer: {}, heldUp: heldUp ?? error }
  }
}

/** The answer to an indexer's empty call: the lowest price of the kind, and how to use the route. */
async function probe(
  deps: BuyingDeps,
  kind: Kind,
  { transport }: PurchaseCall,
): Promise<PurchaseOutcome> {
  const { liveCatalog, payees } = deps.purchases
  const lowest = liveCatalog.current().lowest[kind]
  if (lowest === undefined) {
    throw new Refusal('offer_unavailable', `No ${kind} is on sale just now.`)
  }
  const demanded = await paymentRequired(deps.demands, transport, {
    kind,
    accepts: acceptsOf(lowest, payees),
    validSeconds: termsValidSeconds,
    error: `Payment required: name an offerId for its exact price; this is the lowest price of any ${kind}`,
    description: routeDescription(deps.site, kind),
    bodySchema: kindSchemaFor(kind),
    example: exampleOf(deps.purchases, kind),
  })
  return { type: 'payment_required', ...demanded }
}

/** Answers an unreadable payment, which buys nothing, is not stored, and cannot have moved any money. */
async function unreadable(
  deps: BuyingDeps,
  call: PurchaseCall,
  reason: string,
): Promise<PurchaseOutcome> {
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
  { transport }: PurchaseCall,
  { accepts, offer, lineItem, fault }: Extract<PurchaseAnswer, { type: 'payment_required' }>,
): Promise<PurchaseOutcome> {
  const retail = retailOf(offer, deps.purchases.pricing)
  const demanded = await paymentRequired(deps.demands, transport, {
    kind: offer.kind,
    accepts,
    validSeconds: deps.purchases.quotes.secondsLeft(accepts[0].extra['quote']),
    error: fault?.reason ?? 'Payment required',
    ...(fault ? { code: fault.code } : {}),
    description: describe(offer),
    bought: purchaseSentence(offer, lineItem, usdc(accepts[0].amount)),
    bodySchema: bodySchemaFor(offer, retail),
    example: exampleBody(offer, retail),
  })
  return { type: 'payment_required', ...demanded }
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
): Promise<PurchaseOutcome> {
  const { order } = answer
  const came = order.state === 'FULFILLED'
  if (!answer.reveal) {
    return { type: 'standing', body: orderStanding(order, 'payment'), came, orderId: order.id }
  }
  return { ...answer, came, settled: await settledOf(deps.demands, transport, order) }
}
