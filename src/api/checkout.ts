import {
  type Checkout,
  type InvoicedCheckout,
  isInvoiced,
  seenUnits,
} from '../checkouts/checkout.ts'
import type { Processor } from '../checkouts/ports.ts'
import { type CheckoutForm, type StartDeps, startCheckout } from '../checkouts/start.ts'
import { never } from '../lib/errors.ts'
import { isCheckoutId } from '../lib/ids.ts'
import { coinAbilities } from '../payments/coins.ts'
import { hashOf, sameHash } from '../secrets/secrets.ts'
import { type BoughtDeps, boughtOf } from './bought.ts'
import { orNotNow } from './buying/or-not-now.ts'
import type { FaultLog } from './deps.ts'
import { orderOfLinkToken, type TokenDeps } from './tracking/tokens.ts'

/** The checkout of the website: an order paid in a coin, from the form to the order. */
export type CheckoutService = ReturnType<typeof createCheckoutService>
export type StartedCheckout = Awaited<ReturnType<CheckoutService['start']>>

export function createCheckoutService(deps: StartDeps & Pick<TokenDeps, 'tokenSigner'>) {
  const { tokenSigner, checkouts, processor } = deps
  const isOwn = (checkout: Checkout, token: string | undefined) =>
    opensCheckout({ tokenSigner, purchases: deps }, checkout, token)
  return {
    /** The coins that can be paid; empty if the operator has configured no processor. */
    methods: processor.methods,

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

    /**
     * Undefined if there is no such checkout.
     *
     * @param token of the checkout, or a link token of its order
     * @throws Refusal `try_again`
     */
    view: (
      id: string,
      token: string | undefined,
      log: FaultLog,
    ): Promise<CheckoutView | undefined> =>
      orNotNow(log, async () => {
        const checkout = isCheckoutId(id) ? await checkouts.find(id) : undefined
        return checkout && checkoutView(deps, checkout, isOwn(checkout, token))
      }),
  }
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

export type CheckoutView = ReturnType<typeof checkoutView>

/**
 * A checkout as its page shows it. Visitors who are not its owner see its offer, its price and its stage, but neither
 * an address to pay to nor anything about the payer.
 */
export function checkoutView(deps: ViewDeps, checkout: Checkout, isOwner: boolean) {
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
    /** The time by the store's clock, for the minutes that are left. */
    now,
    /** Changes whenever the content of the page changes: its expiry does so without a change of the record. */
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

/** `units`, `seen` and `remaining` are in the coin's smallest unit. */
function invoiceOf({ invoice, startedAt: openedAt }: InvoicedCheckout) {
  const { id, address, paymentLink, rate, units, expiresAt, watchedUntil } = invoice
  const seen = seenUnits(invoice)
  const remaining = seen < units ? units - seen : 0n
  return {
    ...{ id, address, paymentLink, rate, units, expiresAt, watchedUntil },
    ...{ seen, remaining, openedAt },
  }
}
