import type { EsimOffer, Offer, TopupOffer, VoucherOffer } from '../models.ts'
import { fixedCost, fixedPrice } from './amounts.ts'

/** How a purchase ends. All offers except test offers are `OK`. */
export const outcomes = ['OK', 'SLOW', 'FAIL', 'HANG', 'LATE', 'LOST', 'DECLINED'] as const
export type Outcome = (typeof outcomes)[number]

const stories: Readonly<Record<Outcome, string>> = {
  OK: 'Delivered in about a second.',
  SLOW: 'Delivered in about 25 seconds.',
  FAIL: 'Accepted, then failed after about a second.',
  HANG: 'Accepted, and then neither delivered nor failed, ever.',
  LATE: 'Delivered after the deadline of the store has passed.',
  LOST: 'Accepted and delivered, but the answer to the purchase is lost (503).',
  DECLINED: 'Refused at once (400); nothing is bought.',
}

/** Prices in US cents, low enough for x402 clients with their default limit. */
const prices: Readonly<Record<Outcome, number>> = {
  OK: 50,
  SLOW: 55,
  FAIL: 60,
  HANG: 65,
  LATE: 70,
  LOST: 75,
  DECLINED: 80,
}

const made = '2025-01-01T00:00:00.000Z'

function common(offerId: string, story: string, cents: number) {
  return {
    brand: 'TEST',
    brandName: 'Sandbox Test',
    cost: fixedCost(cents - 5, 0.05, 1),
    country: 'US',
    createdAt: made,
    enabled: true,
    notes: `A test offer of the sandbox. ${story}`,
    offerId,
    price: fixedPrice(cents, 'USD', 1),
    priceType: 'FIXED' as const,
    regions: ['North America'],
    shortNotes: story,
    updatedAt: made,
  }
}

const allowance = {
  dataGB: 1,
  dataUnlimited: false,
  durationDays: 7,
  smsNumber: 0,
  smsUnlimited: false,
  voiceMinutes: 0,
  voiceUnlimited: false,
}

function voucher(outcome: Outcome): VoucherOffer {
  return {
    ...common(`TEST-VOUCHER-${outcome}`, stories[outcome], prices[outcome]),
    deliveryType: 'EPIN',
    productType: 'VOUCHER',
    requiredFields: ['recipient.firstName', 'recipient.lastName'],
    send: { currency: 'USD', currencyDivisor: 100, fixed: prices[outcome], fx: 1 },
    subTypes: ['Gaming & Entertainment', 'Digital Apps'],
  }
}

function openVoucher(): VoucherOffer {
  const dollars = { currency: 'USD', currencyDivisor: 100 }
  return {
    ...voucher('OK'),
    cost: { ...dollars, discount: 5, fee: 0, feePct: 0, fx: 1, max: 90, min: 9 },
    offerId: 'TEST-VOUCHER-OPEN',
    price: { ...dollars, fee: 0, fx: 1, increment: 5, margin: 5, max: 95, min: 10 },
    priceType: 'RANGE',
    send: { ...dollars, fx: 1, max: 95, min: 10 },
    shortNotes: 'A value you choose, delivered in about a second.',
  }
}

function topup(outcome: Outcome): TopupOffer {
  return {
    ...common(`TEST-TOPUP-${outcome}`, stories[outcome], prices[outcome]),
    ...allowance,
    dataGB: 0,
    durationDays: 0,
    productType: 'TOPUP',
    send: { currency: 'USD', currencyDivisor: 100, fixed: prices[outcome], fx: 1 },
    subTypes: ['Mobile Top Up'],
  }
}

function esim(outcome: Outcome): EsimOffer {
  return {
    ...common(`TEST-ESIM-${outcome}`, stories[outcome], prices[outcome]),
    ...allowance,
    dataSpeeds: ['4G', '5G'],
    productType: 'ESIM',
    roaming: [{ country: 'US', dataSpeeds: ['4G', '5G'] }],
    subTypes: ['Standard'],
  }
}

export const testOffers = {
  vouchers: [...outcomes.map(voucher), openVoucher()],
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
