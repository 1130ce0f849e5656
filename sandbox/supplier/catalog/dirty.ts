import type { EsimOffer, Family, Offer, TopupOffer, VoucherOffer } from '../models.ts'

/**
 * The data a real supplier's catalog should not hold and does (suppliers.md A.13 item 7). Besides
 * these, about one offer in a hundred is disabled. `KEEP` offers are unusual but fit to sell.
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

const commonFlaws: readonly Flaw[] = [
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
    { id: 'KEEP-SUBTYPE', change: { subTypes: ['Mobile Money'] } },
  ],
  esim: [
    ...commonFlaws,
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
 * The flawed offers of a family, made from one clean offer of it. Their ids begin with `DIRTY-`,
 * but for the last two: one has no id at all, the other repeats the id of the clean offer.
 */
export function dirtyOffers<O extends VoucherOffer | TopupOffer | EsimOffer>(
  family: Family,
  clean: O,
): readonly Offer[] {
  const flawed: unknown[] = flaws[family].map(({ id, change }) => ({
    ...clean,
    // A brand of their own keeps them out of the way of whoever searches for real ones.
    brand: 'SANDBOX_DIRTY',
    brandName: 'Sandbox Dirty Data',
    enabled: true,
    offerId: `DIRTY-${family.toUpperCase()}-${id}`,
    ...change,
  }))
  const { offerId: _, ...nameless } = clean
  flawed.push(nameless, { ...clean, shortNotes: 'A second offer under the same id.' })
  // The one place where a shape is claimed that does not hold: breaking it is the purpose.
  return flawed as readonly Offer[]
}
