import type { EsimOffer, Family, Offer, TopupOffer, VoucherOffer } from '../models.ts'

/**
 * Flaws that real catalogs of suppliers contain. Besides these, about one offer in a hundred is disabled. `KEEP`
 * offers are unusual but can be sold.
 */
interface Flaw {
  readonly id: string
  readonly change: Readonly<Record<string, unknown>>
}

const moneyFlaws: readonly Flaw[] = [
  { id: 'NO-PRICE', change: { price: undefined } },
  {
    id: 'PRICE-ZERO',
    change: { price: { currency: 'USD', currencyDivisor: 100, fee: 0, fixed: 0 } },
  },
  {
    id: 'PRICE-NEGATIVE',
    change: { price: { currency: 'USD', currencyDivisor: 100, fee: 0, fixed: -500 } },
  },
  {
    id: 'DIVISOR-ZERO',
    change: { price: { currency: 'USD', currencyDivisor: 0, fee: 0, fixed: 500 } },
  },
  {
    id: 'KEEP-PRICE-JPY',
    change: { price: { currency: 'JPY', currencyDivisor: 1, fee: 0, fixed: 1500 } },
  },
  {
    id: 'KEEP-PRICE-KWD',
    change: { price: { currency: 'KWD', currencyDivisor: 1000, fee: 0, fixed: 3075 } },
  },
]

const wallet = { currency: 'USD', currencyDivisor: 100, discount: 0, fee: 0, feePct: 0 }

/** Flaws of costs, which are not always a little below the price, nor always in dollars. */
const costFlaws: readonly Flaw[] = [
  { id: 'NO-COST', change: { cost: undefined } },
  {
    id: 'KEEP-COST-FEES',
    change: {
      priceType: 'FIXED',
      price: { currency: 'USD', currencyDivisor: 100, fee: 0, fixed: 1000 },
      cost: { ...wallet, fee: 25, feePct: 2.5, fixed: 990 },
    },
  },
  {
    id: 'KEEP-COST-EUR',
    change: {
      priceType: 'FIXED',
      price: { currency: 'USD', currencyDivisor: 100, fee: 0, fixed: 1000 },
      cost: { ...wallet, currency: 'EUR', fixed: 900 },
    },
  },
]

/** Prices from 5 to 102.50 in steps of 5, with a fixed fee that the lowest price does not cover. */
const offTheStep = {
  priceType: 'RANGE',
  price: { currency: 'USD', currencyDivisor: 100, fee: 0, increment: 500, min: 500, max: 10_250 },
  cost: { ...wallet, fee: 50, min: 485, max: 9_943 },
  send: { currency: 'USD', currencyDivisor: 100, min: 500, max: 10_250 },
}

/** An offer whose cost exceeds its price at the upper end. */
const dearAtTheTop = {
  ...offTheStep,
  price: { currency: 'USD', currencyDivisor: 100, fee: 0, increment: 500, min: 500, max: 50_000 },
  cost: { ...wallet, min: 500, max: 60_000 },
  send: { currency: 'USD', currencyDivisor: 100, min: 500, max: 50_000 },
}

const commonFlaws: readonly Flaw[] = [
  ...costFlaws,
  ...moneyFlaws,
  { id: 'DISABLED', change: { enabled: false } },
  { id: 'COUNTRY-ZZ', change: { country: 'ZZ' } },
  { id: 'NO-BRAND-NAME', change: { brandName: '' } },
]

const upsideDown = {
  priceType: 'RANGE',
  price: { currency: 'USD', currencyDivisor: 100, fee: 0, increment: 100, min: 5000, max: 1000 },
}

const flaws: Readonly<Record<Family, readonly Flaw[]>> = {
  vouchers: [
    ...commonFlaws,
    { id: 'MIN-OVER-MAX', change: upsideDown },
    { id: 'KEEP-RANGE-OFF-STEP', change: offTheStep },
    { id: 'KEEP-RANGE-DEAR', change: dearAtTheTop },
    { id: 'KEEP-SUBTYPE', change: { subTypes: ['Collectibles & Hobbies'] } },
    {
      id: 'STREET',
      change: { requiredFields: ['recipient.firstName', 'recipient.address.street'] },
    },
    { id: 'CHALLENGE', change: { requiredFields: ['delivery.challenge.question'] } },
  ],
  topups: [
    ...commonFlaws,
    { id: 'MIN-OVER-MAX', change: upsideDown },
    { id: 'KEEP-RANGE-OFF-STEP', change: offTheStep },
    { id: 'KEEP-SUBTYPE', change: { subTypes: ['Mobile Money'] } },
  ],
  esim: [
    ...commonFlaws,
    { id: 'OPEN-VALUE', change: offTheStep },
    { id: 'KEEP-SUBTYPE', change: { subTypes: ['Fastest Plus'] } },
    {
      id: 'KEEP-ROAMING-CYP',
      change: {
        country: '',
        regions: ['Western Europe'],
        roaming: ['CYP', 'GR', 'MT', 'IT'].map((country) => ({ country, dataSpeeds: ['4G'] })),
      },
    },
  ],
}

/**
 * The flawed offers of a family, made from one of its clean offers. Their ids begin with `DIRTY-`, except for the last
 * two: one has no id, the other repeats the id of the clean offer.
 */
export function flawedOffers<O extends VoucherOffer | TopupOffer | EsimOffer>(
  family: Family,
  clean: O,
): readonly Offer[] {
  const flawed: unknown[] = flaws[family].map(({ id, change }) => ({
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
