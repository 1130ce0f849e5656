import { faceValueFor } from '../catalog/face-value.ts'
import { worthOf } from '../catalog/offer.ts'
import {
  type Checkout,
  type InvoicedCheckout,
  isInvoiced,
  seenUnits,
} from '../checkouts/checkout.ts'
import type { Processor } from '../checkouts/ports.ts'
import {
  type CheckoutForm,
  methodsTaken,
  type StartDeps,
  startCheckout,
} from '../checkouts/start.ts'
import { never } from '../lib/errors.ts'
import { isCheckoutId, type OrderId } from '../lib/ids.ts'
import type { Item } from '../orders/order.ts'
import { coinAbilities } from '../payments/coins.ts'
import { hashOf, type Sealed, sameHash, type Vault } from '../secrets/secrets.ts'
import { recipientOf } from './orders/order.ts'
import { orderOfLinkToken, type TokenDeps } from './tracking/tokens.ts'

export type CheckoutService = ReturnType<typeof createCheckoutService>
export type StartedCheckout = Awaited<ReturnType<CheckoutService['start']>>

export function createCheckoutService(deps: StartDeps & Pick<TokenDeps, 'tokenSigner'>) {
  const { tokenSigner, checkouts, processor, health } = deps
  return {
    methods: processor.methods,
    /** What is not paused; none while the payment processor is down. */
    methodsNow: () => (health.takesCoins() ? methodsTaken(deps) : []),

    /**
     * The access token opens the checkout and the goods of its order. The same form gives the same one again.
     *
     * @param admit called last, before anything is stored; it may refuse
     * @throws Refusal `invalid_body` that lists every fault (also of `coin` and `refundTo`),
     *   `offer_not_found`, `offer_unavailable`, `store_paused`, `try_again`
     */
    async start(form: CheckoutForm, admit?: () => Promise<void>) {
      const { checkout, accessToken } = await startCheckout(deps, form, admit)
      return { id: checkout.id, orderId: checkout.orderId, accessToken }
    },

    async view(id: string, token: string | undefined): Promise<CheckoutView | undefined> {
      const checkout = isCheckoutId(id) ? await checkouts.find(id) : undefined
      if (checkout === undefined) return undefined
      const isOwner = opensCheckout({ tokenSigner, purchases: deps }, checkout, token)
      return checkoutView(deps, checkout, isOwner)
    },
  }
}

export function opensCheckout(
  deps: TokenDeps,
  { orderId, accessTokenHash }: Checkout,
  token: string | undefined,
): boolean {
  if (token === undefined) return false
  return orderOfLinkToken(deps, token) === orderId || sameHash(hashOf(token), accessTokenHash)
}

export type CheckoutView = ReturnType<typeof checkoutView>

/** Visitors who are not its owner see neither an address to pay to nor anything about the payer. */
export function checkoutView(
  deps: {
    readonly vault: Vault
    readonly processor: Pick<Processor, 'sends'>
    readonly now: () => Date
  },
  checkout: Checkout,
  isOwner: boolean,
) {
  const { id, orderId, item, amount, coin, network, startedAt } = checkout
  const { kind, offerId, brandName } = item
  const now = deps.now()
  const stage = stageOf(checkout, now)
  const own = isOwner && isInvoiced(checkout) ? checkout : undefined
  return {
    ...{ id, orderId, kind, offerId, brandName, amount, coin, network },
    /** What the processor can do with the coin, so that the page promises no more; other payouts are an operator's. */
    abilities: { ...coinAbilities[coin], isSent: deps.processor.sends(coin) },
    isOwner,
    stage,
    startedAt,
    invoice: own && invoiceOf(own),
    bought: isOwner ? boughtOf(deps, checkout) : undefined,
    refundTo: isOwner ? checkout.refundTo : undefined,
    /** Those of the checkout. A refund of the order is shown with the order. */
    returns: own?.returns ?? [],
    /** By the store's clock, for the minutes that are left. */
    now,
    /** Changes whenever the content of the page changes: its expiry does so without a change of the record. */
    version: stage === 'closing' ? `${checkout.version}-over` : String(checkout.version),
  }
}

export type CheckoutStage =
  | 'opening'
  | 'refused'
  | 'waiting'
  | 'partly_paid'
  | 'confirming'
  | 'closing'
  | 'unwatched'
  | 'paid'
  | 'expired'

function stageOf(checkout: Checkout, now: Date): CheckoutStage {
  switch (checkout.state) {
    case 'OPENING':
      return 'opening'
    // There is no invoice, so nothing can have been paid.
    case 'REFUSED':
      return 'refused'
    case 'OPEN':
      // Nobody would see a payment now.
      return checkout.goneAt ? 'unwatched' : waitingStage(checkout, now)
    case 'ORDERED':
      return 'paid'
    // Everything that was or will be paid is returned.
    case 'ENDED':
      return 'expired'
    default:
      return never(checkout)
  }
}

function waitingStage({ invoice }: InvoicedCheckout, now: Date): CheckoutStage {
  if (invoice.status === 'PROCESSING' || invoice.due === 0n) return 'confirming'
  // It is not known yet what was paid before. The page no longer asks for money.
  if (now >= invoice.expiresAt) return 'closing'
  return seenUnits(invoice) > 0n ? 'partly_paid' : 'waiting'
}

/** `units`, `seen` and `due` are in the coin's smallest unit. */
function invoiceOf({ invoice }: InvoicedCheckout) {
  const { id, address, paymentLink, rate, units, due, expiresAt, watchedUntil } = invoice
  const seen = seenUnits(invoice)
  return { id, address, paymentLink, rate, units, due, expiresAt, watchedUntil, seen }
}

export type Bought = ReturnType<typeof boughtOf>

export function boughtOf(
  { vault }: { readonly vault: Vault },
  placed: {
    readonly orderId: OrderId
    readonly item: Item
    readonly recipient: Sealed | undefined
  },
) {
  const { kind, brandName, country, value, shown } = placed.item
  const offer = shown && { kind, ...(country === undefined ? {} : { country }), ...shown }
  const recipient = recipientOf(vault, placed.orderId, placed.recipient)
  return {
    kind,
    brandName,
    offer,
    country,
    /** When a plan is slowed down, in the supplier's words. */
    fairUse: shown?.fairUse,
    /** The chosen value of an open-value offer, in the minor units of the offer's price. */
    value,
    receives: offer && faceValueFor(worthOf(offer), value),
    /** The number that is topped up, in E.164 form; undefined once it was erased. */
    phone: recipient && 'msisdn' in recipient ? recipient.msisdn : undefined,
  }
}
