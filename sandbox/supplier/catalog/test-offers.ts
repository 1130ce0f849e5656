import type { Allowance, Offer } from '../models.ts'
import { fixedPrice } from './amounts.ts'

/**
 * How a purchase ends, and the price of its test offers in US cents: low enough for x402 clients with their default
 * limit. All offers except test offers are `OK`.
 */
const stories = {
  OK: [50, 'Delivered in about a second.'],
  SLOW: [55, 'Delivered in about 25 seconds.'],
  FAIL: [60, 'Accepted, then failed after about a second.'],
  HANG: [65, 'Accepted, and then neither delivered nor failed, ever.'],
  LATE: [70, 'Delivered after the deadline of the store has passed.'],
  LOST: [75, 'Accepted and delivered, but the answer to the purchase is lost (503).'],
  DECLINED: [80, 'Refused at once (400); nothing is bought.'],
} as const
export type Outcome = keyof typeof stories
export const outcomes = Object.keys(stories) as Outcome[]

const made = '2025-01-01T00:00:00.000Z'

function common(kind: 'VOUCHER' | 'TOPUP' | 'ESIM', outcome: Outcome) {
  const [cents, story] = stories[outcome]
  const { cost, ...price } = fixedPrice(cents, 'USD', 0.05)
  return {
    brand: 'TEST',
    brandName: 'Sandbox Test',
    country: 'US',
    createdAt: made,
    enabled: true,
    notes: `A test offer of the sandbox. ${story}`,
    offerId: `TEST-${kind}-${outcome}`,
    ...price,
    cost: { ...cost, fixed: cents - 5 },
    regions: ['North America'],
    shortNotes: story,
    updatedAt: made,
  }
}

/** What a topup or an eSIM without anything has. */
export const nothing: Allowance = {
  dataGB: 0,
  dataUnlimited: false,
  durationDays: 0,
  smsNumber: 0,
  smsUnlimited: false,
  voiceMinutes: 0,
  voiceUnlimited: false,
}

const dollars = { currency: 'USD', currencyDivisor: 100, fx: 1 }
const sendOf = (outcome: Outcome) => ({ ...dollars, fixed: stories[outcome][0] })

const voucher = (outcome: Outcome) => ({
  ...common('VOUCHER', outcome),
  deliveryType: 'EPIN',
  productType: 'VOUCHER' as const,
  requiredFields: ['recipient.firstName', 'recipient.lastName'],
  send: sendOf(outcome),
  subTypes: ['Gaming & Entertainment', 'Digital Apps'],
})

const openVoucher = {
  ...voucher('OK'),
  cost: { ...dollars, discount: 5, fee: 0, feePct: 0, max: 90, min: 9 },
  offerId: 'TEST-VOUCHER-OPEN',
  price: { ...dollars, fee: 0, increment: 5, margin: 5, max: 95, min: 10 },
  priceType: 'RANGE' as const,
  send: { ...dollars, max: 95, min: 10 },
  shortNotes: 'A value you choose, delivered in about a second.',
}

const topup = (outcome: Outcome) => ({
  ...common('TOPUP', outcome),
  ...nothing,
  productType: 'TOPUP' as const,
  send: sendOf(outcome),
  subTypes: ['Mobile Top Up'],
})

const esim = (outcome: Outcome) => ({
  ...common('ESIM', outcome),
  ...nothing,
  dataGB: 1,
  dataSpeeds: ['4G', '5G'],
  durationDays: 7,
  productType: 'ESIM' as const,
  roaming: [{ country: 'US', dataSpeeds: ['4G', '5G'] }],
  subTypes: ['Standard'],
})

export const testOffers = {
  vouchers: [...outcomes.map(voucher), openVoucher],
  topups: outcomes.map(topup),
  esim: outcomes.map(esim),
} as const satisfies Record<string, readonly Offer[]>

/** Whether it is a test offer. A test topup accepts any number with the offer's calling code, in use or not. */
export function isTestOffer(offer: Offer): boolean {
  return offer.brand === 'TEST'
}

export function outcomeOf(offerId: string): Outcome {
  if (!offerId.startsWith('TEST-')) return 'OK'
  return outcomes.find((outcome) => offerId.endsWith(`-${outcome}`)) ?? 'OK'
}
