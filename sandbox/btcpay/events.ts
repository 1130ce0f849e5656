import type { Payout } from './models.ts'
import type { PaymentView } from './views.ts'

interface PaymentSeen {
  readonly afterExpiration: boolean
  readonly paymentMethodId: string
  readonly payment: PaymentView
}

/** An event of an invoice, named as in webhooks. */
export type InvoiceEvent =
  | { readonly type: 'InvoiceCreated' }
  | ({ readonly type: 'InvoiceReceivedPayment' } & PaymentSeen)
  | { readonly type: 'InvoiceProcessing'; readonly overPaid: boolean }
  | { readonly type: 'InvoiceExpired'; readonly partiallyPaid: boolean }
  | { readonly type: 'InvoiceExpiredPaidPartial' }
  | { readonly type: 'InvoicePaidAfterExpiration' }
  | {
      readonly type: 'InvoiceSettled'
      readonly manuallyMarked: boolean
      readonly overPaid: boolean
    }
  | { readonly type: 'InvoiceInvalid'; readonly manuallyMarked: boolean }
  | ({ readonly type: 'InvoicePaymentSettled' } & PaymentSeen)

/** An event for which a webhook can be registered, and that this server sends. */
export interface StoreEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export function payoutEvent(
  type: 'PayoutCreated' | 'PayoutApproved' | 'PayoutUpdated',
  { id: payoutId, pullPaymentId, state: payoutState }: Payout,
): StoreEvent {
  return { type, payoutId, ...(pullPaymentId === null ? {} : { pullPaymentId }), payoutState }
}
