import type { OrderId } from '../../lib/ids.ts'
import type { Sealed } from '../../secrets/secrets.ts'

export interface NewWebhook {
  /** The URL and the secret that signs: a sealed `WebhookTarget`. */
  readonly target: Sealed
  /** Keyed digest of the host, so that deliveries can be counted for it. */
  readonly receiver: string
}

/** `over_limit`: its payer has too many, so it never gets events. `gone`: its receiver answered 410. */
export type WebhookState = 'active' | 'over_limit' | 'gone'

/** The most deliveries to one host that are under way at once, over all nodes. */
export const maxPerReceiver = 4
/** The longest wait that a receiver can ask for; milliseconds. */
export const maxRetryAfterMs = 86_400_000
/** How often an event is tried in its whole life: in the three days by itself at most 90 times, then when its buyer asks. */
export const maxAttempts = 100
/** How long a delivery belongs to the node that claimed it; a post ends well before. Milliseconds. */
export const deliveryLeaseMs = 45_000
/** The shortest time between two requests to send the events of an order again; milliseconds. */
export const redeliverEveryMs = 60_000

/** What an event says about its order: no goods, personal fields or secrets. */
export interface WebhookData {
  readonly orderId: OrderId
  readonly paymentId: string
  readonly state: string
  readonly refund_state: string | null
  readonly transactionHash: string | null
  readonly refundTransactionHash: string | null
}

interface WebhookEvent {
  /** The same in every attempt. */
  readonly id: string
  /** `order.` and the state, or the state of the refund if only that changed; in lower case. */
  readonly type: string
  readonly at: Date
  /** How often it was tried, in its whole life. */
  readonly attempts: number
}

export interface Delivery extends WebhookEvent {
  readonly order: OrderId
  readonly data: WebhookData
  readonly target: Sealed
  /** Names the lease. */
  readonly lease: string
}

export type DeliveryResult =
  | { readonly type: 'delivered' | 'gone'; readonly answer: string }
  | { readonly type: 'failed'; readonly answer: string; readonly againInMs: number }

export interface EventStanding extends WebhookEvent {
  readonly state: 'pending' | 'delivered' | 'given_up'
  readonly attemptedAt: Date | null
  readonly nextAttemptAt: Date | null
  readonly answer: string | null
}

interface WebhookStanding {
  readonly state: WebhookState
  readonly events: readonly EventStanding[]
}

/** The writes of the orders add the events (`OrderStore.open` and `move`), so none is lost. */
export interface WebhookStore {
  find(order: OrderId): Promise<WebhookStanding | undefined>

  /**
   * Makes all events due again under their ids, without a new time or new attempts. Returns how many, `too_soon`, or
   * `none` if there is no webhook, or its receiver is gone.
   */
  redeliver(order: OrderId): Promise<number | 'too_soon' | 'none'>

  /** Of each order only the first that waits; for each receiver at most `maxPerReceiver`, including those under way. */
  claimDue(limit: number): Promise<readonly Delivery[]>

  /** Returns whether that gave the event up. Does nothing if its lease was lost. */
  end(delivery: Delivery, result: DeliveryResult): Promise<boolean>

  /** Forgets the webhooks of orders that ended before then. Returns how many; fewer once told to stop. */
  forget(endedBefore: Date, signal?: AbortSignal): Promise<number>

  countPending(): Promise<number>
}

export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The answer of a receiver, or a code that says why there is none. */
export type PostResult =
  | {
      readonly status: number
      /** How long its `Retry-After` asks to wait (RFC 9110, 10.2.3). */
      readonly retryAfterMs?: number | undefined
    }
  | { readonly failure: string }

/** Posts to a receiver, without following redirects. Never throws. */
export type PostWebhook = (call: WebhookCall) => Promise<PostResult>
