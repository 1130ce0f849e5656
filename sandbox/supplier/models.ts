/**
 * The models of Zendit's API, named as in its public SDK. Amounts are whole numbers in minor units:
 * major = value / currencyDivisor. Times are ISO 8601 in UTC.
 */
export type Family = 'vouchers' | 'topups' | 'esim'
export type TransactionStatus =
  | 'ACCEPTED'
  | 'PENDING'
  | 'AUTHORIZED'
  | 'IN_PROGRESS'
  | 'DONE'
  | 'FAILED'

/** A fixed value, or an open one from `min` to `max`. */
interface Money {
  readonly currency: string
  readonly currencyDivisor: number
  readonly fixed?: number
  readonly fx?: number
  readonly max?: number
  readonly min?: number
}

interface CommonOffer {
  readonly brand: string
  readonly brandName: string
  readonly cost: Money & {
    readonly discount: number
    readonly fee: number
    readonly feePct: number
  }
  readonly country: string
  readonly createdAt: string
  readonly enabled: boolean
  readonly notes: string
  readonly offerId: string
  readonly price: Money & { readonly fee: number; readonly increment?: number }
  readonly priceType: 'FIXED' | 'RANGE'
  readonly regions: readonly string[]
  readonly shortNotes: string
  readonly subTypes: readonly string[]
  readonly updatedAt: string
}

export interface Allowance {
  readonly dataGB: number
  readonly dataUnlimited: boolean
  readonly durationDays: number
  readonly smsNumber: number
  readonly smsUnlimited: boolean
  readonly voiceMinutes: number
  readonly voiceUnlimited: boolean
}

export interface VoucherOffer extends CommonOffer {
  readonly productType: 'VOUCHER'
  readonly deliveryType: string
  readonly requiredFields: readonly string[]
  /** The value that the recipient gets, in the recipient's currency. */
  readonly send: Money
}

export interface TopupOffer extends CommonOffer, Allowance {
  readonly productType: 'TOPUP'
  /** The value that the recipient gets, in the recipient's currency. */
  readonly send: Money
}

export interface EsimOffer extends CommonOffer, Allowance {
  readonly productType: 'ESIM'
  readonly dataSpeeds: readonly string[]
  readonly roaming: readonly { readonly country: string; readonly dataSpeeds: readonly string[] }[]
}

export type Offer = VoucherOffer | TopupOffer | EsimOffer

export interface SupplierError {
  readonly code: string
  readonly description: string
  readonly message: string
}

/** What a DONE record confirms; all but the first two only for an eSIM. */
interface Confirmation {
  readonly externalReferenceId: string
  readonly confirmationNumber?: string
  readonly activationCode?: string
  readonly iccid?: string
  readonly redemptionInstructions?: string
  readonly smdpAddress?: string
}

/** The record of a purchase: what is decided by here; the fields that are only shown come from its offer. */
export interface Purchase {
  readonly productType: Offer['productType']
  readonly offerId: string
  readonly transactionId: string
  readonly status: TransactionStatus
  readonly createdAt: string
  readonly updatedAt: string
  readonly log: readonly {
    readonly dateTime: string
    readonly status: TransactionStatus
    readonly statusMessage: string
  }[]
  readonly error?: SupplierError
  readonly cost: number
  readonly price: number
  readonly receipt?: { readonly epin: string; readonly [shown: string]: unknown }
  readonly confirmation?: Confirmation
  readonly refund?: { readonly status: TransactionStatus }
  readonly [shown: string]: unknown
}

export interface EsimRefund extends Pick<Purchase, 'createdAt' | 'updatedAt' | 'log' | 'status'> {
  readonly amount: number
  readonly currency: string
  readonly currencyDivisor: number
  readonly productType: 'REFUND'
  readonly refundedTransactionId: string
  readonly transactionId: string
  readonly type: 'CREDIT'
}
