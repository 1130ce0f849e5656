import type { VoucherOffer } from '../models.ts'
import { divisorOf, faceAmounts, openAmounts, roundUnit } from './amounts.ts'
import { countryName, places } from './regions.ts'
import { hash32, pick, random, stamps } from './rng.ts'
import { type VoucherBrand, voucherBrands } from './voucher-brands.ts'

/** The values of cards, in round units of the currency, most common first. */
const sums: readonly number[] = [
  ...new Set([
    ...[25, 50, 10, 100, 20, 15, 75, 5, 30, 150, 200, 40, 60, 250, 300, 500],
    ...Array.from({ length: 100 }, (_, index) => 5 * (index + 1)),
    ...Array.from({ length: 400 }, (_, index) => index + 3),
  ]),
]

/** The sets of fields that a purchase requires. A common set is listed twice, so that it is drawn more often. */
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

function common({ brand, country, currency }: Place, offerId: string) {
  const next = random(offerId)
  return {
    brand: brand.brand,
    brandName: brand.brandName,
    country,
    deliveryType: pick(next, ['EPIN', 'EPIN', 'URL']),
    enabled: next() >= 0.01,
    notes: `Use it for ${brand.paysFor}. Valid in ${countryName(country)}, in ${currency} only.`,
    offerId,
    productType: 'VOUCHER' as const,
    regions: [places.get(country)?.region ?? 'Global'],
    requiredFields: pick(random(`fields ${brand.brand}`), fieldSets),
    subTypes: brand.subTypes,
    ...stamps(next),
  }
}

function discountOf({ brand }: Place): number {
  return 0.01 + (hash32(`discount ${brand.brand}`) % 8) / 100
}

function fixed(place: Place, sum: number): VoucherOffer {
  const { brand, country, currency } = place
  const major = Number((sum * roundUnit(currency)).toPrecision(6))
  const isLocal = localPrices.has(currency) && hash32(`price ${brand.brand} ${country}`) % 12 === 0
  const sale = isLocal ? currency : 'USD'
  const face = Math.round(major * divisorOf(currency))
  return {
    ...common(place, `${brand.brand}_${country}_${String(major).replace('.', '-')}_EGIFT`),
    ...faceAmounts(face, currency, { sale, markup: 1, discount: discountOf(place) }),
    shortNotes: `${brand.brandName} gift card ${major} ${currency}, ${countryName(country)}`,
  }
}

function open(place: Place): VoucherOffer {
  const { brand, country, currency } = place
  const increment = hash32(`${brand.brand} ${country}`) % 3 === 0 ? 500 : 100
  const price = { increment, margin: 5, min: 500, max: 50_000 }
  return {
    ...common(place, `${brand.brand}_${country}_OPEN`),
    ...openAmounts(currency, price, { discount: discountOf(place), markup: 1 }),
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
    const currency = places.get(country)?.currency ?? 'USD'
    const offer = offerAt({ brand, country, currency }, slot)
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
