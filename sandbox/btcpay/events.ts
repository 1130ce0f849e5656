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
