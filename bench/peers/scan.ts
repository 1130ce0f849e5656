import { countryNames } from '../../src/catalog/countries.ts'
import type { Offer } from '../../src/catalog/offer.ts'
import type { Filters } from '../../src/catalog/search/filters.ts'
import { isTypoOf } from '../../src/catalog/search/words.ts'
import { wordsOf } from '../../src/lib/text.ts'

/**
 * The right totals by the rules of docs/contributors/decisions/017, without an index: each query looks at
 * every offer. Without `typos`, the totals of an engine that tolerates none.
 */
export function totalsByScan(
  offers: readonly Offer[],
  queries: readonly Filters[],
  { typos }: { readonly typos: boolean },
): number[] {
  const known = new Map<string, number>()
  return queries.map((filters) => {
    const key = JSON.stringify(filters)
    const total = known.get(key) ?? totalOf(offers, filters, typos)
    known.set(key, total)
    return total
  })
}

function totalOf(offers: readonly Offer[], filters: Filters, typos: boolean): number {
  const { country, subType, regions, brand, text } = filters
  const named = beginning(brand, false, ({ brandName }) => brandName)
  const found = beginning(text, typos, textOf)
  return offers.filter(
    (offer) =>
      (country === undefined || offer.country === country) &&
      (subType === undefined || offer.subTypes.includes(subType)) &&
      (regions === undefined || regions.some((region) => offer.regions.includes(region))) &&
      named(offer) &&
      found(offer),
  ).length
}

const texts = new Map<Offer, string>()

function textOf(offer: Offer): string {
  const known = texts.get(offer)
  if (known !== undefined) return known
  const { brand, brandName, country, subTypes, regions } = offer
  const names = countryNames(country ?? '')
  const text = [brand, brandName, ...subTypes, ...regions, ...names].join(' ')
  texts.set(offer, text)
  return text
}

/** Tests whether every word of a value is a prefix of a word of an offer's text, or a typo of one. */
function beginning(value: string | undefined, typos: boolean, of: (offer: Offer) => string) {
  if (value === undefined) return () => true
  const asked = wordsOf(value)
  const begins = (word: string, known: string) =>
    known.startsWith(word) || (typos && isTypoOf(word, known))
  const decided = new Map<string, boolean>()
  return (offer: Offer) => {
    const text = of(offer)
    const before = decided.get(text)
    if (before !== undefined) return before
    const words = wordsIn(text)
    const now = asked.every((word) => words.some((known) => begins(word, known)))
    decided.set(text, now)
    return now
  }
}

const taken = new Map<string, readonly string[]>()

function wordsIn(text: string): readonly string[] {
  const words = taken.get(text) ?? wordsOf(text)
  taken.set(text, words)
  return words
}
