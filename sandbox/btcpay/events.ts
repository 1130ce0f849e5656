import type { Payout } from './models.ts'
import type { PaymentView } from './views.ts'

interface PaymentSeen {
  readonly afterExpiration: boolean
  readonly paymentMethodId: string
  readonly payment: PaymentView
}

/** What happened to an invoice, in the words of the webhook that tells it. */
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

/** What a webhook may be registered for, and what this server can tell. */
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
