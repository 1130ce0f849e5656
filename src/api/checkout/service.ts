import type { Kind } from '../../catalog/offer.ts'
import type { Invoice, Return } from '../../checkouts/checkout.ts'
import type { PaymentMethod } from '../../checkouts/ports.ts'
import type { CheckoutForm } from '../../checkouts/start.ts'
import type { CheckoutId, OrderId } from '../../lib/ids.ts'
import type { Usdc } from '../../lib/money.ts'
import type { Coin, CoinAbilities } from '../../payments/coins.ts'
import type { Bought } from '../bought.ts'
import type { FaultLog } from '../deps.ts'

export interface StartedCheckout {
  readonly id: CheckoutId
  readonly orderId: OrderId
  /** Opens the checkout and the goods of its order. The same form gives the same one again. */
  readonly accessToken: string
}

/** Where a checkout stands, as its page says it. */
export type CheckoutStage =
  /** The processor has not given the invoice yet. */
  | 'opening'
  /** There is no invoice; nothing can have been paid. */
  | 'refused'
  | 'waiting'
  /** Something came, but not all; the rest may still be paid. */
  | 'partly_paid'
  /** All of it was seen, and waits for its confirmations. */
  | 'confirming'
  /** Its time is over, and it is not known yet what came before. No money is asked for any more. */
  | 'closing'
  /** The processor does not know the invoice any more: nobody would see what is sent now. */
  | 'unwatched'
  /** It is an order now. */
  | 'paid'
  /** Its time is over. What came, or still comes, goes back. */
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
  /** What the processor does with the coin: what the page may promise. */
  readonly abilities: Pick<CoinAbilities, 'isSeenLate'> & {
    /** Sends it by itself. Otherwise an operator sends what goes back. */
    readonly isSent: boolean
  }
  /** Whether whoever asks has shown that this is theirs. Others see no address and no amounts. */
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
  /** Only for the owner; what goes back from here. A refund of the order is shown with the order. */
  readonly returns: readonly Return[]
  /** The clock of the store, which a countdown goes by. */
  readonly now: Date
  /** Another text whenever something that the page shows is another. */
  readonly version: string
}

/** What was sent to start a checkout, as the form of its offer has it. */
export interface SentForm {
  readonly offerId: string
  /** The fields of the purchase by their published names, as text. */
  readonly fields: Readonly<Record<string, string>>
  readonly coin: Coin
  readonly refundTo: string
}

/** The checkout of the website: an order paid in a coin, from the form to the order. */
export interface CheckoutService {
  /** The coins that can be paid in; empty where the operator has configured no processor. */
  readonly methods: readonly PaymentMethod[]
  /**
   * @param admit is asked last, before anything is kept, and may refuse
   * @throws Refusal `invalid_body` that lists every fault (also of `coin` and `refundTo`),
   *   `offer_not_found`, `offer_unavailable`, `store_paused`, `try_again`
   */
  start(form: CheckoutForm, admit?: () => Promise<void>): Promise<StartedCheckout>
  /**
   * Undefined when there is no such checkout.
   *
   * @param token of the checkout, or a link token of its order
   * @throws Refusal `try_again`
   */
  view(id: string, token: string | undefined, log: FaultLog): Promise<CheckoutView | undefined>
  /**
   * The form of a checkout, for its owner and while its personal fields are kept.
   *
   * @throws Refusal `try_again`
   */
  sent(id: string, token: string | undefined, log: FaultLog): Promise<SentForm | undefined>
}
