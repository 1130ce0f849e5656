import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { hash32 } from './catalog/rng.ts'
import type { Offer, Purchase, SupplierError } from './models.ts'
import type { PurchaseInput, Value } from './purchase-input.ts'

/** What a purchase moves on each side of the offer; an open value in proportion to the three upper bounds. */
function amountsOf(offer: Offer, value: Value | undefined) {
  const { price, cost } = offer
  const send = offer.productType === 'ESIM' ? price : offer.send
  const of = ({ fixed = 0, max = 0 }: typeof send) =>
    value ? Math.max(1, Math.round((value.value * max) / (price.max ?? 1))) : fixed
  const base = of(cost)
  const fees = cost.fee + Math.ceil((base * cost.feePct) / 100 - 1e-6)
  return { price: of(price), cost: base, send: of(send), fees }
}

/** The record of a purchase that was just accepted. `input` must be valid for `offer`. */
export function newRecord(offer: Offer, input: PurchaseInput, at: Date): Purchase {
  const { cost, price, createdAt: _, enabled: __, updatedAt: ___, ...shown } = offer
  const unshown = { send: undefined, deliveryType: undefined, requiredFields: undefined }
  const { send: sent, deliveryType: _d, requiredFields: _r, ...rest } = { ...unshown, ...shown }
  const { family, offerId: _o, transactionId, ...given } = input
  const amounts = amountsOf(offer, input.value)
  const now = at.toISOString()
  const send = sent && {
    ...{ send: amounts.send, sendCurrency: sent.currency },
    sendCurrencyDivisor: sent.currencyDivisor,
  }
  return {
    ...rest,
    ...send,
    ...{ vouchers: given, topups: { ...given, sender: {} }, esim: {} }[family],
    cost: amounts.cost + amounts.fees,
    costBase: amounts.cost,
    costCurrency: cost.currency,
    costCurrencyDivisor: cost.currencyDivisor,
    costFee: amounts.fees,
    price: amounts.price + price.fee,
    priceBase: amounts.price,
    priceCurrency: price.currency,
    priceCurrencyDivisor: price.currencyDivisor,
    priceFee: price.fee,
    createdAt: now,
    updatedAt: now,
    log: [{ dateTime: now, status: 'ACCEPTED', statusMessage: 'Transaction accepted' }],
    status: 'ACCEPTED',
    transactionId,
  }
}

/** Digits and capitals that cannot be mistaken for one another. There are 32, so random bytes map to them evenly. */
const letters = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
const smdpAddress = 'smdp.sandbox.example.com'

/**
 * A code that is worth money: `SBX-` and four groups of four random letters (80 bits). The prefix lets a scan of logs
 * find leaked codes.
 */
function newCode(): string {
  const drawn = [...randomBytes(16)].map((byte) => letters[byte % letters.length]).join('')
  return `SBX-${drawn.replaceAll(/(.{4})(?=.)/g, '$1-')}`
}

function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('')
}

/** The check digit that completes `number` by the Luhn algorithm. */
export function luhnDigit(number: string): string {
  const sum = [...number].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

/** 19 digits: 89 for telecommunications, a fictitious country and issuer, the account, and a check digit. */
function newIccid(): string {
  const number = `8910390${digits(11)}`
  return number + luhnDigit(number)
}

interface Delivering {
  readonly now: Date
  /** The eSIM to which a plan is added, and how that was first delivered. */
  readonly iccid: string | undefined
  readonly known: Purchase['confirmation']
}

/** The record with its goods. */
export function delivered(record: Purchase, how: Delivering): Purchase {
  if (record.productType === 'ESIM')
    return { ...record, confirmation: esimConfirmation(record, how) }
  const confirmation = {
    confirmationNumber: digits(12),
    externalReferenceId: randomUUID(),
    transactionTime: how.now.toISOString(),
  }
  if (record.productType === 'TOPUP') return { ...record, confirmation }
  return {
    ...record,
    confirmation,
    receipt: receiptOf(record, confirmation.confirmationNumber, how.now),
  }
}

function receiptOf(record: Purchase, confirmationNumber: string, now: Date) {
  const brand = String(record['brand'])
  const epin = newCode()
  const expires = new Date(now)
  expires.setUTCFullYear(expires.getUTCFullYear() + 1 + (hash32(brand) % 4))
  const linked = hash32(`link ${brand}`) % 2 === 0
  return {
    accountId: '',
    confirmationNumber,
    currency: record['sendCurrency'],
    currencyDivisor: record['sendCurrencyDivisor'],
    deliveryType: linked ? 'URL' : 'EPIN',
    epin,
    expiresAt: expires.toISOString(),
    instructions: `Sign in to ${record['brandName']}, choose "Redeem a gift card" and enter the code.`,
    notes: record['shortNotes'],
    recipientCustomerServiceNumber: '',
    redemptionUrl: linked ? `https://redeem.example.com/${brand}?code=${epin}` : '',
    send: record['send'],
    senderCustomerServiceNumber: '',
    terms: 'Sandbox voucher without value. It cannot be exchanged for cash.',
    voucherId: randomUUID(),
  }
}

/** A plan that is added to an eSIM keeps its ICCID and codes; otherwise a new eSIM is made. */
function esimConfirmation(record: Purchase, { iccid, known }: Delivering) {
  const externalReferenceId = randomUUID()
  if (iccid) {
    return {
      activationCode: known?.activationCode ?? '',
      externalReferenceId,
      iccid,
      redemptionInstructions:
        'The plan was added to your eSIM and begins when the one before it ends.',
      smdpAddress: known?.smdpAddress ?? '',
    }
  }
  const matchingId = newCode()
  const isWhole = hash32(`activation ${record.offerId}`) % 2 === 0
  return {
    activationCode: isWhole ? `LPA:1$${smdpAddress}$${matchingId}` : matchingId,
    externalReferenceId,
    iccid: newIccid(),
    redemptionInstructions:
      'Scan the QR code in the mobile network settings of your phone, then switch on data roaming.',
    smdpAddress,
  }
}

/** Why a purchase of each product fails. */
export const failures: Readonly<Record<Purchase['productType'], SupplierError>> = {
  VOUCHER: {
    code: 'PRODUCT_OUT_OF_STOCK',
    description: 'The provider has no more codes of this value.',
    message: 'Product out of stock',
  },
  TOPUP: {
    code: 'CARRIER_REJECTED',
    description: 'The carrier refused the recipient number.',
    message: 'Rejected by the carrier',
  },
  ESIM: {
    code: 'ESIM_OUT_OF_STOCK',
    description: 'The provider has no free eSIM profile for this plan.',
    message: 'No profile available',
  },
}

export const insufficientFunds: SupplierError = {
  code: 'INSUFFICIENT_FUNDS',
  description: 'The balance of the wallet does not cover the cost of this purchase.',
  message: 'Insufficient funds',
}
