/**
 * The models of Zendit's API, named as in its public SDK. Amounts are whole numbers in minor units:
 * major = value / currencyDivisor. Times are ISO 8601 in UTC.
 */
export type Family = 'vouchers' | 'topups' | 'esim'
type ProductType = 'VOUCHER' | 'TOPUP' | 'ESIM'
type PriceType = 'FIXED' | 'RANGE'
type ValueType = 'ZEND' | 'PRICE' | 'COST'
export type TransactionStatus =
  | 'ACCEPTED'
  | 'PENDING'
  | 'AUTHORIZED'
  | 'IN_PROGRESS'
  | 'DONE'
  | 'FAILED'

export interface Cost {
  readonly currency: string
  readonly currencyDivisor: number
  readonly discount: number
  readonly fee: number
  readonly feePct: number
  readonly fixed?: number
  readonly fx?: number
  readonly max?: number
  readonly min?: number
}

export interface Price {
  readonly currency: string
  readonly currencyDivisor: number
  readonly fee: number
  readonly fixed?: number
  readonly fx?: number
  readonly increment?: number
  readonly margin?: number
  readonly max?: number
  readonly min?: number
  readonly suggestedFixed?: number
  readonly suggestedFx?: number
}

/** The value that the recipient gets, in the recipient's currency. */
interface Zend {
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
  readonly cost: Cost
  readonly country: string
  readonly createdAt: string
  readonly enabled: boolean
  readonly notes: string
  readonly offerId: string
  readonly price: Price
  readonly priceType: PriceType
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

interface Roaming {
  readonly country: string
  readonly dataSpeeds: readonly string[]
}

export interface VoucherOffer extends CommonOffer {
  readonly productType: 'VOUCHER'
  readonly deliveryType: string
  readonly requiredFields: readonly string[]
  readonly send: Zend
}

export interface TopupOffer extends CommonOffer, Allowance {
  readonly productType: 'TOPUP'
  readonly send: Zend
}

export interface EsimOffer extends CommonOffer, Allowance {
  readonly productType: 'ESIM'
  readonly dataSpeeds: readonly string[]
  readonly roaming: readonly Roaming[]
}

export type Offer = VoucherOffer | TopupOffer | EsimOffer

interface LogItem {
  readonly dateTime: string
  readonly status: TransactionStatus
  readonly statusMessage: string
}

export interface SupplierError {
  readonly code: string
  readonly description: string
  readonly message: string
}

interface PurchaseField {
  readonly key: string
  readonly value: string
}

export interface PurchaseValue {
  readonly type: ValueType
  readonly value: number
}

interface TopupSender {
  readonly country?: string | undefined
  readonly phoneNumber?: string | undefined
}

export interface Confirmation {
  readonly confirmationNumber: string
  readonly externalReferenceId: string
  readonly transactionTime: string
}

export interface EsimConfirmation {
  readonly activationCode: string
  readonly externalReferenceId: string
  readonly iccid: string
  readonly redemptionInstructions: string
  readonly smdpAddress: string
}

export interface VoucherReceipt {
  readonly accountId: string
  readonly confirmationNumber: string
  readonly currency: string
  readonly currencyDivisor: number
  readonly deliveryType: string
  readonly epin: string
  readonly expiresAt: string
  readonly instructions: string
  readonly notes: string
  readonly recipientCustomerServiceNumber: string
  readonly redemptionUrl: string
  readonly send: number
  readonly senderCustomerServiceNumber: string
  readonly terms: string
  readonly voucherId: string
}

interface CommonPurchase {
  readonly brand: string
  readonly brandName: string
  readonly cost: number
  readonly costBase: number
  readonly costCurrency: string
  readonly costCurrencyDivisor: number
  readonly costFee: number
  readonly country: string
  readonly createdAt: string
  readonly error?: SupplierError
  readonly log: readonly LogItem[]
  readonly notes: string
  readonly offerId: string
  readonly price: number
  readonly priceBase: number
  readonly priceCurrency: string
  readonly priceCurrencyDivisor: number
  readonly priceFee: number
  readonly priceType: PriceType
  readonly regions: readonly string[]
  readonly shortNotes: string
  readonly status: TransactionStatus
  readonly subTypes: readonly string[]
  readonly transactionId: string
  readonly updatedAt: string
  readonly value?: PurchaseValue
}

interface Sent {
  readonly send: number
  readonly sendCurrency: string
  readonly sendCurrencyDivisor: number
}

export interface VoucherPurchase extends CommonPurchase, Sent {
  readonly productType: 'VOUCHER'
  readonly fields: readonly PurchaseField[]
  readonly confirmation?: Confirmation
  readonly receipt?: VoucherReceipt
}

interface TopupPurchase extends CommonPurchase, Sent, Allowance {
  readonly productType: 'TOPUP'
  readonly recipientPhoneNumber: string
  readonly sender: TopupSender
  readonly confirmation?: Confirmation
}

export interface EsimPurchase extends CommonPurchase, Allowance {
  readonly productType: 'ESIM'
  readonly dataSpeeds: readonly string[]
  readonly roaming: readonly Roaming[]
  readonly confirmation?: EsimConfirmation
  readonly refund?: { readonly status: TransactionStatus }
}

export type Purchase = VoucherPurchase | TopupPurchase | EsimPurchase

/** One entry of the wallet's history: a purchase (DEBIT) or an eSIM refund (CREDIT). */
export interface Transaction {
  readonly amount: number
  readonly createdAt: string
  readonly currency: string
  readonly currencyDivisor: number
  readonly error?: SupplierError
  readonly log: readonly LogItem[]
  readonly productType: ProductType | 'REFUND'
  readonly status: TransactionStatus
  readonly transactionId: string
  readonly type: 'CREDIT' | 'DEBIT'
  readonly updatedAt: string
}

export interface EsimRefundStatus extends Transaction {
  readonly refundedTransactionId: string
}
