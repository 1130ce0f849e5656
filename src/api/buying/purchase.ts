import { exampleBody } from '../../catalog/example-body.ts'
import { goods } from '../../catalog/good.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { bodySchemaFor, kindSchemaFor } from '../../catalog/purchase-body.ts'
import { understood } from '../../catalog/understood.ts'
import type { OrderId } from '../../lib/ids.ts'
import { formatUsdc, type Usdc, usdc, usdcDecimals } from '../../lib/money.ts'
import { Refusal } from '../../lib/refusal.ts'
import { foreignEsim, rechargedIccid } from '../../orders/foreign-esim.ts'
import { requireSold } from '../../orders/not-now.ts'
import { acceptsFor, type Priced, price } from '../../orders/price.ts'
import { type PurchaseAnswer, purchase } from '../../orders/purchase.ts'
import type { PurchaseRequest } from '../../orders/replay.ts'
import { acceptsOf, termsValidSeconds } from '../../payments/terms.ts'
import { purchasePath } from '../paths.ts'
import { type OrderView, orderStanding } from '../views/order.ts'
import { purchaseSentence } from '../views/purchase-sentence.ts'
import type { Charge } from './charge.ts'
import type { BuyingDeps } from './deps.ts'
import { exampleOf, routeDescription } from './listing.ts'
import {
  type PaymentRequiredAnswer,
  type PaymentTransport,
  paymentRequired,
  withSignals,
} from './payment-required.ts'
import type { Presented } from './presented.ts'
import { type Settled, settledOf } from './settled.ts'
import { signedInIfValid } from './sign-in.ts'
import { type Credentials, knownBy, viewerOf } from './viewer.ts'

/** A call that buys, or asks what it costs, as it came over its transport. */
export interface PurchaseCall {
  /** Undefined where the transport takes all kinds alike: the offer says which it is. */
  readonly kind: Kind | undefined
  /** The flat fields of the purchase. */
  readonly fields: Record<string, unknown>
  readonly presented: Presented
  readonly shown: () => Credentials
  /** How long the buyer wants to wait for the goods at most; milliseconds. */
  readonly patienceMs: number | undefined
  /** The price above which a person must approve, as the host of the buyer has set it. */
  readonly approveAbove?: Usdc | undefined
  readonly transport: PaymentTransport
  /** The address that the call came from, as limits count it. */
  readonly client: string
  /** Told here once it is known that the payment has opened no order. */
  readonly charge: Charge
  /** Why the call may do no more than find the order that it has already paid for. */
  readonly heldUp: Refusal | undefined
}

/** What a purchase answers: a demand for money, or the order that it opened or found. */
export type PurchaseOutcome =
  | ({ readonly type: 'payment_required' } & PaymentRequiredAnswer)
  | (OrderView & {
      readonly type: 'order'
      /** Whether the goods came; if not, they are on their way, or the money is. */
      readonly came: boolean
      readonly replayed: boolean
      /** The receipt of the payment, once it is proven. */
      readonly settled: Settled | undefined
    })
  | {
      /** All that is told to whoever brings a payment and nothing that shows that it is theirs. */
      readonly type: 'standing'
      readonly body: ReturnType<typeof orderStanding>
      readonly came: boolean
      /** For the log alone. */
      readonly orderId: OrderId
    }

/**
 * Buys, or says what it takes to buy.
 *
 * @throws Refusal when what is asked for is not sold like that, or not now
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

/** Whoever only asks for the price hears of every fault at once. */
async function asking(deps: BuyingDeps, { shown }: PurchaseCall): Promise<CallerRequest> {
  return { payment: undefined, viewer: await viewerOf(deps, shown()) }
}

/**
 * Whoever brings a payment may have paid before. Then what they show of themselves only decides
 * whether they see the goods: a key of no form and a sign-in that was used show nothing, and refuse
 * nobody.
 */
function paying(
  deps: BuyingDeps,
  { shown, heldUp, charge }: PurchaseCall,
  { payment }: Extract<Presented, { type: 'payment' }>,
): CallerRequest {
  const foundUnpaid = () => {
    charge.known = 'no'
  }
  const showedNothing = () => {
    charge.showedNothing = true
  }
  try {
    const told = shown()
    const viewer = knownBy(told, payment)
    // A signature costs calls to the chain to check, so whoever is above a limit shows none.
    const signedIn = heldUp ? undefined : () => signedInIfValid(deps.signIn, told.signIn)
    return { payment, viewer, signedIn, heldUp, foundUnpaid, showedNothing }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { payment, viewer: {}, heldUp: heldUp ?? error, foundUnpaid, showedNothing }
  }
}

/** How often somebody may have something looked up that is not theirs: as often as proofs may fail. */
export interface ProofLimit {
  /** The refusal of who had too many refused. */
  readonly mayProve: () => Promise<Refusal | undefined>
  /** After one was not accepted. */
  readonly provedNothing: () => Promise<void>
}

/**
 * The full validation and the exact amount, without a payment. Nothing is stored.
 *
 * @throws Refusal `invalid_body`, `offer_not_found`, `offer_unavailable`, `store_paused`, `rate_limited`
 */
export async function quote(
  deps: BuyingDeps,
  asked: Kind | undefined,
  fields: Record<string, unknown>,
  limit: ProofLimit,
) {
  const priced = price(deps.purchases, asked, understood(fields))
  requireSold(deps.purchases.health, priced, true)
  const isLookedUp = await lookUpEsim(deps, priced, limit)
  const { kind } = priced.offer
  const accepts = acceptsFor(deps.purchases, priced)
  const [{ amount }] = accepts
  const now = deps.purchases.now()
  return {
    offerId: priced.offer.id,
    kind,
    usdc: { amount, decimals: usdcDecimals },
    display: `${formatUsdc(usdc(amount))} USDC`,
    message: `${purchaseSentence(priced.offer, priced.lineItem, usdc(amount))}. Nothing is bought yet.${isLookedUp ? '' : notLookedUp}`,
    validUntil: new Date(now.getTime() + termsValidSeconds * 1_000).toISOString(),
    accepts: accepts.map((terms) => withSignals(deps.demands, kind, terms)),
    purchase: { method: 'POST', url: `${deps.site.url}${purchasePath(kind)}` },
    refundRule: goods[kind].refundRule,
  }
}

const notLookedUp =
  ' The eSIM could not be looked up just now. It is looked up when you pay, before any money moves.'

/**
 * The check of a purchase for an eSIM to recharge. False: nobody could tell just now.
 *
 * @throws Refusal `invalid_body`, `rate_limited`
 */
async function lookUpEsim(deps: BuyingDeps, priced: Priced, limit: ProofLimit): Promise<boolean> {
  if (rechargedIccid(priced) === undefined) return true
  const above = await limit.mayProve()
  if (above) throw above
  const refusal = await foreignEsim(deps.purchases, priced, undefined)
  if (refusal === undefined) return true
  await limit.provedNothing()
  if (refusal.code === 'try_again') return false
  throw refusal
}

/** What an indexer's empty call gets: the lowest price of the kind, and how the route is used. */
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

/** A payment that cannot be read buys nothing and is stored nowhere. */
function unreadable(
  deps: BuyingDeps,
  call: PurchaseCall,
  reason: string,
): Promise<PurchaseOutcome> {
  // It is no authorization that could have moved anything.
  call.charge.known = 'no'
  const priced = price(deps.purchases, call.kind, call.fields)
  const { offer, lineItem } = priced
  const fault = { code: 'payment_invalid', reason }
  const accepts = acceptsFor(deps.purchases, priced)
  return demand(deps, call, { type: 'payment_required', accepts, offer, lineItem, fault })
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
