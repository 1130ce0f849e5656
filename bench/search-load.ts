import type { Offer } from '../src/catalog/offer.ts'
import type { Filters } from '../src/catalog/search/filters.ts'
import type { OfferId } from '../src/lib/ids.ts'
import { seeded } from '../test/model/random.ts'

/*
 * Made offers in any number, and queries for them. Both come from a fixed seed, so two runs measure the
 * same. A few countries and brands have most of the offers, as in every real catalog.
 */

const codes = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const made: Values = {
  countries: codes.flatMap((one) => codes.slice(0, 6).map((other) => one + other)),
  regions: Array.from({ length: 13 }, (_, at) => `Region ${codes[at]}`),
  subTypes: Array.from({ length: 16 }, (_, at) => `Type ${codes[at]}`),
}
const syllables = ['ama', 'zo', 'ne', 'ti', 'ru', 'cla', 'mo', 'vi', 'ster', 'pel', 'ka', 'dor']

/** The values of the fields that offers are found by. Earlier countries are more frequent. */
export interface Values {
  readonly countries: readonly string[]
  readonly regions: readonly string[]
  readonly subTypes: readonly string[]
}

export function madeOffers(
  count: number,
  { countries, regions, subTypes }: Values = made,
): Offer[] {
  const random = seeded(1)
  const names = brandNames(random)
  return Array.from({ length: count }, (_, at): Offer => {
    const place = skewed(random, countries.length)
    const brandName = names[skewed(random, names.length)] ?? ''
    return {
      kind: 'topup',
      id: `T${at}` as OfferId,
      source: { supplier: 'zendit', product: `T${at}` },
      brand: brandName.toUpperCase().replaceAll(' ', '_'),
      brandName,
      country: countries[place] ?? '',
      regions: [regions[place % regions.length] ?? ''],
      subTypes: [subTypes[Math.floor(random() * subTypes.length)] ?? ''],
      productType: 'TOPUP',
      price: { type: 'FIXED', currency: 'USD', divisor: 100, fixed: 100 + (at % 5_000) },
      cost: { currency: 'USD', divisor: 100, min: 1, max: 1 },
      allowance: {},
    }
  })
}

/** Queries of seven forms in turn, with values of offers. */
export function madeQueries(offers: readonly Offer[], count: number): Filters[] {
  const random = seeded(2)
  return Array.from({ length: count }, (_, at): Filters => {
    const { country, brandName, subTypes, regions } = pick(random, offers)
    const text = brandName.toLowerCase().slice(0, 3 + Math.floor(random() * 5))
    const [subType] = subTypes
    const forms: readonly Filters[] = [
      { country },
      { country, subType },
      { brand: brandName },
      { regions, subType },
      { text },
      { text, country },
      {},
    ]
    return forms[at % forms.length] ?? {}
  })
}

function brandNames(random: () => number): string[] {
  const word = () => {
    const parts = Array.from({ length: 2 + Math.floor(random() * 2) }, () =>
      pick(random, syllables),
    )
    const text = parts.join('')
    return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
  }
  return [...new Set(Array.from({ length: 5_000 }, () => `${word()} ${word()}`))]
}

function skewed(random: () => number, size: number): number {
  return Math.floor(random() ** 2 * size)
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}
