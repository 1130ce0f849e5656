import type { VoucherOffer } from '../models.ts'
import { convert, costOf, divisorOf, fixedCost, fixedPrice, roundUnit } from './amounts.ts'
import { countryName, places } from './regions.ts'
import { hash32, pick, random } from './rng.ts'
import { stamps } from './stamps.ts'
import { type VoucherBrand, voucherBrands } from './voucher-brands.ts'

/** The values of cards, in round units of the currency, most common first. */
const sums: readonly number[] = [
  ...new Set([
    ...[25, 50, 10, 100, 20, 15, 75, 5, 30, 150, 200, 40, 60, 250, 300, 500],
    ...Array.from({ length: 100 }, (_, index) => 5 * (index + 1)),
    ...Array.from({ length: 400 }, (_, index) => index + 3),
  ]),
]

/**
 * The sets of fields that a purchase requires. Common sets are listed more than once, so that they are drawn more
 * often.
 */
const fieldSets = [
  ['recipient.firstName', 'recipient.lastName'],
  ['recipient.firstName', 'recipient.lastName'],
  ['recipient.firstName', 'recipient.lastName', 'recipient.email'],
  ['recipient.firstName', 'recipient.lastName', 'recipient.email', 'recipient.country'],
  ['recipient.firstName', 'recipient.lastName', 'sender.firstName', 'sender.lastName'],
  [],
] as const

/** Currencies in which some cards of their countries are priced; most prices are in US dollars. */
const localPrices = new Set(['EUR', 'GBP', 'CAD', 'AUD', 'MXN'])

interface Place {
  readonly brand: VoucherBrand
  readonly country: string
  readonly currency: string
}

function priceCurrency(place: Place): string {
  const local = localPrices.has(place.currency)
  return local && hash32(`price ${place.brand.brand} ${place.country}`) % 12 === 0
    ? place.currency
    : 'USD'
}

function common({ brand, country, currency }: Place, offerId: string) {
  const next = random(offerId)
  const region = places.get(country)?.region ?? 'Global'
  return {
    brand: brand.brand,
    brandName: brand.brandName,
    country,
    deliveryType: pick(next, ['EPIN', 'EPIN', 'URL']),
    enabled: next() >= 0.01,
    notes: `Use it for ${brand.paysFor}. Valid in ${countryName(country)}, in ${currency} only.`,
    offerId,
    productType: 'VOUCHER' as const,
    regions: [region],
    requiredFields: pick(random(`fields ${brand.brand}`), fieldSets),
    subTypes: brand.subTypes,
    ...stamps(next),
  }
}

function discountOf(place: Place): number {
  return 0.01 + (hash32(`discount ${place.brand.brand}`) % 8) / 100
}

function fixed(place: Place, sum: number): VoucherOffer {
  const { brand, country, currency } = place
  const divisor = divisorOf(currency)
  const major = Number((sum * roundUnit(currency)).toPrecision(6))
  const face = Math.round(major * divisor)
  const offerId = `${brand.brand}_${country}_${String(major).replace('.', '-')}_EGIFT`
  const price = convert(face, currency, priceCurrency(place))
  const fx = Number((face / divisor / (price / divisorOf(priceCurrency(place)))).toPrecision(8))
  const discount = discountOf(place)
  return {
    ...common(place, offerId),
    cost: fixedCost(costOf(price, priceCurrency(place), discount), discount, fx),
    price: fixedPrice(price, priceCurrency(place), fx),
    priceType: 'FIXED',
    send: { currency, currencyDivisor: divisor, fixed: face, fx },
    shortNotes: `${brand.brandName} gift card ${major} ${currency}, ${countryName(country)}`,
  }
}

function open(place: Place): VoucherOffer {
  const { brand, country, currency } = place
  const divisor = divisorOf(currency)
  const [min, max, increment] = [
    500,
    50_000,
    hash32(`${brand.brand} ${country}`) % 3 === 0 ? 500 : 100,
  ]
  const fx = Number((convert(100_000, 'USD', currency) / divisor / 1000).toPrecision(8))
  const discount = discountOf(place)
  const rate = Math.round(discount * 1000) / 10
  const dollars = { currency: 'USD', currencyDivisor: 100, fee: 0, fx }
  const toFace = (minor: number) => Math.floor((minor / 100) * fx * divisor)
  return {
    ...common(place, `${brand.brand}_${country}_OPEN`),
    cost: {
      ...dollars,
      discount: rate,
      feePct: 0,
      min: Math.floor(min * (1 - discount)),
      max: Math.floor(max * (1 - discount)),
    },
    price: { ...dollars, increment, margin: 5, min, max, suggestedFx: fx },
    priceType: 'RANGE',
    send: { currency, currencyDivisor: divisor, fx, min: toFace(min), max: toFace(max) },
    shortNotes: `${brand.brandName} gift card of a value you choose, ${countryName(country)}`,
  }
}

/** The `slot`-th offer of a brand in a country. In a third of such pairs, the second one has an open value. */
function offerAt(place: Place, slot: number): VoucherOffer | undefined {
  const opens = hash32(`open ${place.brand.brand} ${place.country}`) % 3 === 0
  if (slot === 1 && opens) return open(place)
  const sum = sums[slot]
  return sum === undefined ? undefined : fixed(place, sum)
}

/** The offers of one brand in a wave: three further countries count as much as one further value. */
function* waveOf(brand: VoucherBrand, wave: number): Generator<VoucherOffer> {
  for (let slot = 0; slot * 3 <= wave; slot += 1) {
    const country = brand.countries[wave - slot * 3]
    if (country === undefined) continue
    const offer = offerAt(
      { brand, country, currency: places.get(country)?.currency ?? 'USD' },
      slot,
    )
    if (offer) yield offer
  }
}

/**
 * An endless sequence of voucher offers, in waves: first the common values of every brand in its main country, then
 * further countries and values. A larger catalog therefore begins with the whole of a smaller one.
 */
export function* vouchers(
  brands: readonly VoucherBrand[] = voucherBrands,
): Generator<VoucherOffer> {
  for (let wave = 0; wave < sums.length * 3; wave += 1) {
    for (const brand of brands) yield* waveOf(brand, wave)
  }
}
