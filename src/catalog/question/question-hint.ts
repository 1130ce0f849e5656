import { countryName } from '../countries.ts'
import { goods } from '../good.ts'
import type { Kind } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import type { Hint } from '../search/hint.ts'
import { coverableOf, mostOffered, nearFirst } from '../search/nearest.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { Question } from './asked.ts'
import { type Found, findFor, isSold } from './find.ts'
import type { Indexes } from './reading.ts'

/** The most countries that a hint lists. */
const maxListed = 12

interface Unanswered {
  readonly indexes: Indexes
  readonly question: Question
  readonly found: Found
  readonly rates: RateTable | undefined
}

/** Explains why a question finds nothing. The question finds something with the value that the hint proposes. */
export function questionHint(unanswered: Unanswered): Hint {
  const { asked } = unanswered.found
  const [kind] = asked.kinds
  const noun = asked.kinds.length === 1 && kind !== undefined ? goods[kind].plural : 'offers'
  return (
    budgetHint(unanswered, noun) ??
    brandHint(unanswered, noun) ??
    currencyHint(unanswered, noun) ??
    sizeHint(unanswered, noun) ??
    coverageHint(unanswered) ??
    placeHint(unanswered, noun) ?? {
      message: messageOf(unanswered, noun),
    }
  )
}

function messageOf({ found: { asked } }: Unanswered, noun: string): string {
  const words = asked.words.map((word) => `"${word}"`).join(', ')
  if (words !== '') return `No ${noun} have ${words}.`
  return asked.kinds.length > 0 ? `No ${noun} meet all of that.` : noSubject
}

const noSubject =
  'The question names nothing that the store sells. Name a brand, a country, a phone number that starts with +, an amount, or a kind: voucher, topup or esim.'

function finds({ indexes, question, rates }: Unanswered, change: Question): boolean {
  return findFor(indexes, { ...question, ...change }, rates, 1).total > 0
}

/** The countries that a single plan does cover, if none covers all that were named. */
function coverageHint(unanswered: Unanswered): Hint | undefined {
  const { indexes, found } = unanswered
  const { countries, kinds } = found.asked
  if (!kinds.includes('esim') || countries.length < 2) return undefined
  const coverable = coverableOf(indexes.esim, countries, {})
  const message = `No one plan covers ${countries.map(countryName).join(', ')} as asked.`
  const isSome = coverable.length > 0 && coverable.length < countries.length
  if (!isSome || !finds(unanswered, { covers: coverable })) return { message }
  const names = coverable.map(countryName).join(', ')
  return {
    parameter: 'covers',
    nearest: coverable.join(','),
    message: `${message} Some cover ${names}.`,
  }
}

/** Says so where nothing at all is sold for a place. */
function placeHint({ indexes, found: { asked } }: Unanswered, noun: string): Hint | undefined {
  const [code, ...others] = asked.countries
  if (code === undefined || others.length > 0) return undefined
  const isServed = asked.kinds.some((kind) => indexes[kind].count({ covers: [code] }) > 0)
  return isServed ? undefined : { message: `No ${noun} are for ${countryName(code)}.` }
}

/** The lowest price, if all offers cost more than was allowed. */
function budgetHint(
  { indexes, question, found: { asked }, rates }: Unanswered,
  noun: string,
): Hint | undefined {
  if (asked.maxUsdc === undefined) return undefined
  const dearer = findFor(indexes, { ...question, maxUsdc: Number.MAX_SAFE_INTEGER }, rates, 1)
  if (dearer.total === 0) return undefined
  const prices = dearer.kinds.flatMap(({ usdc }) => usdc.slice(0, 1))
  const nearest = Math.min(...prices).toFixed(2)
  const message = `No ${noun} cost so little. The cheapest costs ${nearest} USDC.`
  return { parameter: 'maxUsdc', nearest, message }
}

/** Sizes that plans are sold in, the largest first. */
const sizes = {
  minDays: [365, 180, 90, 60, 30, 28, 21, 15, 14, 10, 7, 5, 3, 2, 1],
  minDataGb: [100, 50, 30, 20, 10, 5, 3, 2, 1, 0.5],
} as const

/** The days or the data that there are, if a plan of that size is all that is missing. */
function sizeHint(unanswered: Unanswered, noun: string): Hint | undefined {
  const { asked } = unanswered.found
  const largest = (name: keyof typeof sizes) =>
    sizes[name].find((size) => size < (asked[name] ?? 0) && finds(unanswered, { [name]: size }))
  const days = largest('minDays')
  if (days !== undefined) {
    const message = `No ${noun} that meet the rest last so long. Some last ${days} days.`
    return { parameter: 'minDays', nearest: String(days), message }
  }
  const gb = largest('minDataGb')
  if (gb === undefined) return undefined
  const message = `No ${noun} that meet the rest have so much data. Some have ${gb} GB.`
  return { parameter: 'minDataGb', nearest: String(gb), message }
}

/** Where goods of the brand are sold, when they are not sold where they were asked for. */
function brandHint(unanswered: Unanswered, noun: string): Hint | undefined {
  const { indexes, found } = unanswered
  const { reading, countries, kinds } = found.asked
  const { brands } = reading
  if (brands === undefined || countries.length === 0) return undefined
  for (const kind of kinds) {
    const sold = placesOfBrand(indexes[kind], kind, brands[kind])
    const places = nearFirst(indexes[kind], countries, sold)
    if (places.length === 0 || places.some((code) => countries.includes(code))) continue
    const name = brandLexicon(indexes[kind]).nameOf(brands[kind][0] ?? '')
    return elsewhereHint(unanswered, { noun, name, places })
  }
  return undefined
}

interface Elsewhere {
  readonly noun: string
  readonly name: string
  readonly places: readonly string[]
}

function elsewhereHint(unanswered: Unanswered, { noun, name, places }: Elsewhere): Hint {
  const asked = unanswered.found.asked.countries.map(countryName).join(', ')
  const listed = places.slice(0, maxListed)
  const list = `${listed.join(', ')}${places.length > maxListed ? ', …' : ''}`
  const message = `No ${noun} of ${name} are for ${asked}. ${name} is sold for: ${list}. An offer for another country may not work.`
  const nearest = listed.find((country) => finds(unanswered, { country }))
  return nearest === undefined ? { message } : { parameter: 'country', nearest, message }
}

/** Says so if all that is missing is a value in the currency that was asked for. */
function currencyHint({ indexes, found: { asked } }: Unanswered, noun: string): Hint | undefined {
  const [currency] = asked.reading.value?.currencies ?? []
  if (currency === undefined || !isSold(indexes, { ...asked, value: undefined })) return undefined
  const [kind] = asked.kinds
  const [code] = (kind && asked.reading.brands?.[kind]) ?? []
  const name = kind && code !== undefined ? ` of ${brandLexicon(indexes[kind]).nameOf(code)}` : ''
  return { message: `No ${noun}${name} have a value in ${currency}.` }
}

/** The countries that a brand is for, those with the most offers first. */
function placesOfBrand(index: SearchIndex, kind: Kind, brandKeys: readonly string[]): string[] {
  return mostOffered(index, goods[kind].isByCoverage ? 'covers' : 'country', { brandKeys })
}
