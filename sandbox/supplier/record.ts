import type {
  Allowance,
  EsimOffer,
  Offer,
  Purchase,
  PurchaseValue,
  TopupOffer,
  VoucherOffer,
} from './models.ts'
import type { PurchaseInput } from './purchase-input.ts'

interface Amounts {
  readonly price: number
  /** Without fees. */
  readonly cost: number
  readonly send: number
}

/** Converts minor units of one side to another, in proportion to the two upper bounds. */
function scaled(value: number, from: number | undefined, to: number | undefined): number {
  return Math.max(1, Math.round((value * (to ?? 0)) / (from ?? 1)))
}

function sendOf(offer: Offer) {
  return offer.productType === 'ESIM' ? offer.price : offer.send
}

function amountsOf(offer: Offer, value: PurchaseValue | undefined): Amounts {
  const { price, cost } = offer
  const send = sendOf(offer)
  if (!value) return { price: price.fixed ?? 0, cost: cost.fixed ?? 0, send: send.fixed ?? 0 }
  const named = { PRICE: price, COST: cost, ZEND: send }[value.type]
  return {
    price: scaled(value.value, named.max, price.max),
    cost: scaled(value.value, named.max, cost.max),
    send: scaled(value.value, named.max, send.max),
  }
}

/** The fees: a fixed amount and a share of the cost. */
function feesOf({ cost }: Offer, base: number): number {
  return cost.fee + Math.ceil((base * cost.feePct) / 100 - 1e-6)
}

function allowanceOf(offer: TopupOffer | EsimOffer): Allowance {
  return {
    dataGB: offer.dataGB,
    dataUnlimited: offer.dataUnlimited,
    durationDays: offer.durationDays,
    smsNumber: offer.smsNumber,
    smsUnlimited: offer.smsUnlimited,
    voiceMinutes: offer.voiceMinutes,
    voiceUnlimited: offer.voiceUnlimited,
  }
}

function sentOf(offer: VoucherOffer | TopupOffer, send: number) {
  const { currency, currencyDivisor } = offer.send
  return { send, sendCurrency: currency, sendCurrencyDivisor: currencyDivisor }
}

function commonOf(offer: Offer, input: PurchaseInput, now: string, amounts: Amounts) {
  const value = input.family === 'esim' ? undefined : input.value
  const fees = feesOf(offer, amounts.cost)
  return {
    brand: offer.brand,
    brandName: offer.brandName,
    cost: amounts.cost + fees,
    costBase: amounts.cost,
    costCurrency: offer.cost.currency,
    costCurrencyDivisor: offer.cost.currencyDivisor,
    costFee: fees,
    country: offer.country,
    createdAt: now,
    log: [{ dateTime: now, status: 'ACCEPTED' as const, statusMessage: 'Transaction accepted' }],
    notes: offer.notes,
    offerId: offer.offerId,
    price: amounts.price,
    priceBase: amounts.price - offer.price.fee,
    priceCurrency: offer.price.currency,
    priceCurrencyDivisor: offer.price.currencyDivisor,
    priceFee: offer.price.fee,
    priceType: offer.priceType,
    regions: offer.regions,
    shortNotes: offer.shortNotes,
    status: 'ACCEPTED' as const,
    subTypes: offer.subTypes,
    transactionId: input.transactionId,
    updatedAt: now,
    ...(value ? { value } : {}),
  }
}

/** The record of a purchase that was just accepted. `input` must be valid for `offer`. */
export function newRecord(offer: Offer, input: PurchaseInput, at: Date): Purchase {
  const value = input.family === 'esim' ? undefined : input.value
  const amounts = amountsOf(offer, value)
  const common = commonOf(offer, input, at.toISOString(), amounts)
  if (offer.productType === 'ESIM') {
    const { dataSpeeds, roaming, productType } = offer
    return { ...common, ...allowanceOf(offer), dataSpeeds, roaming, productType }
  }
  const sent = sentOf(offer, amounts.send)
  if (offer.productType === 'TOPUP' && input.family === 'topups') {
    const { recipientPhoneNumber, sender = {} } = input
    const { productType } = offer
    return { ...common, ...sent, ...allowanceOf(offer), productType, recipientPhoneNumber, sender }
  }
  if (offer.productType === 'VOUCHER' && input.family === 'vouchers') {
    return { ...common, ...sent, productType: offer.productType, fields: input.fields }
  }
  throw new Error(`${offer.offerId} cannot be bought as ${input.family}.`)
}
