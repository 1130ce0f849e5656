import type { Kind } from '../catalog/offer.ts'
import {
  type Checkout,
  type Invoice,
  type InvoicedCheckout,
  isInvoiced,
  type Return,
  seenUnits,
} from '../checkouts/checkout.ts'
import type { PaymentMethod, Processor } from '../checkouts/ports.ts'
import { type CheckoutForm, type StartDeps, startCheckout } from '../checkouts/start.ts'
import { type CheckoutId, isCheckoutId, type OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import { never } from '../lib/never.ts'
import { type Coin, type CoinAbilities, coinAbilities } from '../payments/coins.ts'
import { hashOf, sameHash } from '../secrets/tokens.ts'
import { type Bought, type BoughtDeps, boughtOf } from './bought.ts'
import { orNotNow } from './buying/or-not-now.ts'
import type { FaultLog } from './deps.ts'
import { orderOfLinkToken, type TokenDeps } from './tracking/tokens.ts'

export interface StartedCheckout {
  readonly id: CheckoutId
  readonly orderId: OrderId
  /** Opens the checkout and the goods of its order. The same form gives the same one again. */
  readonly accessToken: string
}

/** The stage of a checkout, as its page shows it. */
export type CheckoutStage =
  /** The processor has not made the invoice yet. */
  | 'opening'
  /** There is no invoice; nothing can have been paid. */
  | 'refused'
  | 'waiting'
  /** A part was paid; the rest may still be paid. */
  | 'partly_paid'
  /** The whole amount was seen, and waits for its confirmations. */
  | 'confirming'
  /** It has expired, and it is not known yet what was paid before. The page no longer asks for money. */
  | 'closing'
  /** The processor no longer knows the invoice, so nobody would see a payment now. */
  | 'unwatched'
  /** It is an order now. */
  | 'paid'
  /** It has expired. Everything that was or will be paid is returned. */
  | 'expired'

export interface CheckoutView {
  readonly id: CheckoutId
  readonly orderId: OrderId
  readonly kind: Kind
  readonly offerId: string
  readonly brandName: string
  readonly amount: Usdc
  readonly coin: Coin
  readonly network: string
  /** What the processor can do with the coin, so that the page promises no more. */
  readonly abilities: Pick<CoinAbilities, 'isSeenLate'> & {
    /** Whether the processor sends payouts automatically. Otherwise an operator sends them. */
    readonly isSent: boolean
  }
  /** Whether the visitor has shown that this is theirs. Others see no address and no amounts. */
  readonly isOwner: boolean
  readonly stage: CheckoutStage
  readonly startedAt: Date
  /** Only for the owner. `units`, `seen` and `remaining` are in the coin's smallest unit. */
  readonly invoice?: Pick<
    Invoice,
    'id' | 'address' | 'paymentLink' | 'rate' | 'units' | 'expiresAt' | 'watchedUntil'
  > & {
    readonly seen: bigint
    readonly remaining: bigint
    readonly openedAt: Date
  }
  /** Only for the owner. */
  readonly bought?: Bought
  /** Only for the owner. */
  readonly refundTo?: string
  /** Only for the owner: the returns. A refund of the order is shown with the order. */
  readonly returns: readonly Return[]
  /** The time by the store's clock, for the minutes that are left. */
  readonly now: Date
  /** Changes whenever the content of the page changes. */
  readonly version: string
}

/** The checkout of the website: an order paid in a coin, from the form to the order. */
export interface CheckoutService {
  /** The coins that can be paid; empty if the operator has configured no processor. */
  readonly methods: readonly PaymentMethod[]
  /**
   * @param admit called last, before anything is stored; it may refuse
   * @throws Refusal `invalid_body` that lists every fault (also of `coin` and `refundTo`),
   *   `offer_not_found`, `offer_unavailable`, `store_paused`, `try_again`
   */
  start(form: CheckoutForm, admit?: () => Promise<void>): Promise<StartedCheckout>
  /**
   * Undefined if there is no such checkout.
   *
   * @param token of the checkout, or a link token of its order
   * @throws Refusal `try_again`
   */
  view(id: string, token: string | undefined, log: FaultLog): Promise<CheckoutView | undefined>
}

/** The checkout service, over the store's own checkouts. */
export function createCheckoutService(
  deps: StartDeps & Pick<TokenDeps, 'tokenSigner'>,
): CheckoutService {
  const { tokenSigner, checkouts } = deps
  const found = async (id: string) => (isCheckoutId(id) ? checkouts.find(id) : undefined)
  const isOwn = (checkout: Checkout, token: string | undefined) =>
    opensCheckout({ tokenSigner, purchases: deps }, checkout, token)
  return {
    methods: deps.processor.methods,

    async start(form, admit) {
      const { checkout, accessToken } = await startCheckout(deps, form, admit)
      return { id: checkout.id, orderId: checkout.orderId, accessToken }
    },

    view: (id, token, log) =>
      orNotNow(log, async () => {
        const checkout = await found(id)
        return checkout && checkoutView(deps, checkout, isOwn(checkout, token))
      }),
  }
}

/** Whether this is the token of the checkout, or a link token of its order. */
export function opensCheckout(
  deps: TokenDeps,
  { orderId, accessTokenHash }: Checkout,
  token: string | undefined,
): boolean {
  if (token === undefined) return false
  return orderOfLinkToken(deps, token) === orderId || sameHash(hashOf(token), accessTokenHash)
}

interface ViewDeps extends BoughtDeps {
  readonly processor: Pick<Processor, 'sends'>
  readonly now: () => Date
}

/**
 * A checkout as its page shows it. Visitors who are not its owner see its offer, its price and its stage, but neither
 * an address to pay to nor anything about the payer.
 */
export function checkoutView(deps: ViewDeps, checkout: Checkout, isOwner: boolean): CheckoutView {
  const { id, orderId, item, amount, coin, network } = checkout
  const now = deps.now()
  const stage = stageOf(checkout, now)
  return {
    id,
    orderId,
    kind: item.kind,
    offerId: item.offerId,
    brandName: item.brandName,
    amount,
    coin,
    network,
    abilities: { ...coinAbilities[coin], isSent: deps.processor.sends(coin) },
    isOwner,
    stage,
    startedAt: checkout.startedAt,
    ...(isOwner && isInvoiced(checkout) ? { invoice: invoiceOf(checkout) } : {}),
    ...(isOwner ? { bought: boughtOf(deps, checkout), refundTo: checkout.refundTo } : {}),
    returns: isOwner && isInvoiced(checkout) ? checkout.returns : [],
    now,
    // Its expiry changes the page without a change of the record.
    version: stage === 'closing' ? `${checkout.version}-over` : String(checkout.version),
  }
}

function stageOf(checkout: Checkout, now: Date): CheckoutStage {
  switch (checkout.state) {
    case 'OPENING':
      return 'opening'
    case 'REFUSED':
      return 'refused'
    case 'OPEN':
      return checkout.goneAt ? 'unwatched' : waitingStage(checkout, now)
    case 'ORDERED':
      return 'paid'
    case 'ENDED':
      return 'expired'
    default:
      return never(checkout)
  }
}

function waitingStage({ invoice }: InvoicedCheckout, now: Date): CheckoutStage {
  const seen = seenUnits(invoice)
  if (invoice.status === 'PROCESSING' || seen >= invoice.units) return 'confirming'
  if (now >= invoice.expiresAt) return 'closing'
  return seen > 0n ? 'partly_paid' : 'waiting'
}

function invoiceOf({ invoice, startedAt }: InvoicedCheckout): NonNullable<CheckoutView['invoice']> {
  const { id, address, paymentLink, rate, units, expiresAt, watchedUntil } = invoice
  const seen = seenUnits(invoice)
  const remaining = seen < units ? units - seen : 0n
  return {
    ...{ id, address, paymentLink, rate, units, expiresAt, watchedUntil },
    ...{ seen, remaining, openedAt: startedAt },
  }
}
