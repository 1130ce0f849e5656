import type { EsimOffer, Family, Offer, TopupOffer, VoucherOffer } from '../models.ts'
import { knownFields } from '../required-fields.ts'

type Changes = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const price = (fixed: number, currency = 'USD', currencyDivisor = 100) => ({
  ...{ currency, currencyDivisor, fee: 0, fixed },
})
const range = (increment: number, min: number, max: number) => ({
  priceType: 'RANGE',
  price: { currency: 'USD', currencyDivisor: 100, fee: 0, increment, min, max },
})
const send = (min: number, max: number) => ({ currency: 'USD', currencyDivisor: 100, min, max })
const wallet = { currency: 'USD', currencyDivisor: 100, discount: 0, fee: 0, feePct: 0 }
const tenDollars = { priceType: 'FIXED', price: price(1000) }

/** Prices from 5 to 102.50 in steps of 5, with a fixed fee that the lowest price does not cover. */
const offTheStep = {
  ...range(500, 500, 10_250),
  cost: { ...wallet, fee: 50, min: 485, max: 9_943 },
  send: send(500, 10_250),
}
const upsideDown = range(100, 5000, 1000)

/**
 * Flaws that real catalogs of suppliers contain, by their names. Besides these, about one offer in a hundred is
 * disabled. `KEEP` offers are unusual but can be sold.
 */
const ofAll: Changes = {
  'NO-COST': { cost: undefined },
  'KEEP-COST-FEES': { ...tenDollars, cost: { ...wallet, fee: 25, feePct: 2.5, fixed: 990 } },
  'KEEP-PRICE-FEE': { priceType: 'FIXED', price: { ...price(1000), fee: 75 } },
  'KEEP-COST-EUR': { ...tenDollars, cost: { ...wallet, currency: 'EUR', fixed: 900 } },
  'NO-PRICE': { price: undefined },
  'PRICE-ZERO': { price: price(0) },
  'PRICE-NEGATIVE': { price: price(-500) },
  'DIVISOR-ZERO': { price: price(500, 'USD', 0) },
  'KEEP-PRICE-JPY': { price: price(1500, 'JPY', 1) },
  'KEEP-PRICE-KWD': { price: price(3075, 'KWD', 1000) },
  DISABLED: { enabled: false },
  'COUNTRY-ZZ': { country: 'ZZ' },
  'NO-BRAND-NAME': { brandName: '' },
}

const ofFamily: Readonly<Record<Family, Changes>> = {
  vouchers: {
    'MIN-OVER-MAX': upsideDown,
    'KEEP-RANGE-OFF-STEP': offTheStep,
    // Its cost exceeds its price at the upper end.
    'KEEP-RANGE-DEAR': {
      ...range(500, 500, 50_000),
      cost: { ...wallet, min: 500, max: 60_000 },
      send: send(500, 50_000),
    },
    'KEEP-SUBTYPE': { subTypes: ['Collectibles & Hobbies'] },
    'KEEP-PHONE': { requiredFields: ['recipient.msisdn'] },
    'KEEP-ALL-FIELDS': { requiredFields: knownFields },
    'UNLISTED-FIELD': { requiredFields: ['recipient.firstName', 'recipient.nationalId'] },
  },
  topups: {
    'MIN-OVER-MAX': upsideDown,
    'KEEP-RANGE-OFF-STEP': offTheStep,
    'KEEP-SUBTYPE': { subTypes: ['Mobile Money'] },
  },
  esim: {
    'OPEN-VALUE': offTheStep,
    'KEEP-SUBTYPE': { subTypes: ['Fastest Plus'] },
    'KEEP-ROAMING-CYP': {
      country: '',
      regions: ['Western Europe'],
      roaming: ['CYP', 'GR', 'MT', 'IT'].map((country) => ({ country, dataSpeeds: ['4G'] })),
    },
    // Zendit says that the countries of some eSIMs are not codes of ISO 3166-1.
    'KEEP-COUNTRY-NOT-ISO': { country: 'NCY', roaming: [] },
    'KEEP-ROAMING-NOT-ISO': {
      country: 'NCY',
      roaming: ['NCY', 'TR'].map((country) => ({ country, dataSpeeds: ['4G'] })),
    },
  },
}

/**
 * The flawed offers of a family, made from one of its clean offers. Their ids begin with `DIRTY-`, except for the last
 * two: one has no id, the other repeats the id of the clean offer.
 */
export function flawedOffers<O extends VoucherOffer | TopupOffer | EsimOffer>(
  family: Family,
  clean: O,
): readonly Offer[] {
  const changes = Object.entries({ ...ofAll, ...ofFamily[family] })
  const flawed: unknown[] = changes.map(([id, change]) => ({
    ...clean,
    // Their own brand keeps them out of searches for real offers.
    brand: 'SANDBOX_DIRTY',
    brandName: 'Sandbox Dirty Data',
    enabled: true,
    offerId: `DIRTY-${family.toUpperCase()}-${id}`,
    ...change,
  }))
  const { offerId: _, ...nameless } = clean
  flawed.push(nameless, { ...clean, shortNotes: 'A second offer under the same id.' })
  // The type is deliberately wrong: flawed offers are meant to violate it.
  return flawed as readonly Offer[]
}
