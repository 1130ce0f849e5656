import { countryName } from '../countries.ts'
import { goods } from '../kinds.ts'
import type { Kind } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import { type Hint, mostOffered, nearFirst } from '../search/offer-search.ts'
import { type Found, findFor, type Question, unknownWords } from './find.ts'
import type { Indexes, Part } from './reading.ts'

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
  const { wish } = unanswered.found
  const { kinds } = wish
  const words = unknownWords(wish)
  const [kind, ...others] = kinds
  const noun = others.length === 0 && kind !== undefined ? goods[kind].plural : 'offers'
  const hint = budgetHint(unanswered, noun) ?? brandHint(unanswered, noun)
  if (hint !== undefined) return hint
  if (kinds.length === 0) return { message: noSubject }
  if (words.length > 0) return { message: `No ${noun} have ${words.map(quoted).join(', ')}.` }
  return { message: `No ${noun} meet all of that.`, ...lessHint(unanswered, noun) }
}

const noSubject =
  'The question names nothing that the store sells. Name a brand, a country, a phone number that starts with +, an amount, or a kind: voucher, topup or esim.'

function quoted(text: string): string {
  return `"${text}"`
}

function withChange(
  { indexes, question, rates, found: { wish } }: Unanswered,
  change: Partial<Question>,
  reading = wish.reading,
): Found {
  return findFor(indexes, { ...question, ...change }, rates, reading)
}

/** The lowest price, if all offers cost more than was allowed. */
function budgetHint(unanswered: Unanswered, noun: string): Hint | undefined {
  if (unanswered.found.wish.price.maxUsdc === undefined) return undefined
  const dearer = withChange(unanswered, { maxUsdc: Number.MAX_SAFE_INTEGER })
  if (dearer.total === 0) return undefined
  const prices = dearer.kinds.map(
    ({ kind, filters }) => unanswered.indexes[kind].lowestUsdc(filters) ?? Number.POSITIVE_INFINITY,
  )
  const nearest = Math.min(...prices).toFixed(2)
  const message = `No ${noun} cost so little. The cheapest costs ${nearest} USDC.`
  return { parameter: 'maxUsdc', nearest, message }
}

/** Where goods of the brand are sold, when they are not sold where they were asked for. */
function brandHint(unanswered: Unanswered, noun: string): Hint | undefined {
  const { countries, kinds } = unanswered.found.wish
  const [brand] = countries.length === 0 ? [] : kinds.flatMap((kind) => placesIn(unanswered, kind))
  if (brand === undefined) return undefined
  const { name, places } = brand
  const wanted = countries.map(countryName).join(', ')
  const listed = places.slice(0, maxListed)
  const list = `${listed.join(', ')}${places.length > maxListed ? ', …' : ''}`
  const message = `No ${noun} of ${name} are for ${wanted}. ${name} is sold for: ${list}. An offer for another country may not work.`
  const nearest = listed.find((country) => withChange(unanswered, { country }).total > 0)
  return nearest === undefined ? { message } : { parameter: 'country', nearest, message }
}

/** The countries that the brand is for, none of which is wanted: near ones first, then those with the most offers. */
function placesIn({ indexes, found: { wish } }: Unanswered, kind: Kind) {
  const index = indexes[kind]
  const brandKeys = wish.brands?.[kind] ?? []
  const field = goods[kind].isByCoverage ? 'covers' : 'country'
  const sold = brandKeys.length === 0 ? [] : mostOffered(index, field, { brandKeys })
  const isElsewhere = sold.length > 0 && !sold.some((code) => wish.countries.includes(code))
  const name = brandLexicon(index).nameOf(brandKeys[0] ?? '')
  return isElsewhere ? [{ name, places: nearFirst(index, wish.countries, sold) }] : []
}

/** The one parameter or part of the words without which something is found. */
function lessHint(unanswered: Unanswered, noun: string): Hint | undefined {
  const { question, found } = unanswered
  const names = ['minDataGb', 'minDays', 'covers', 'country', 'kind'] as const
  const parameter = names.find(
    (name) =>
      question[name] !== undefined && withChange(unanswered, { [name]: undefined }).total > 0,
  )
  if (parameter !== undefined) {
    return { parameter, message: `No ${noun} meet all of that. Some do without ${parameter}.` }
  }
  const { text, parts } = found.wish.reading
  const finds = (part: Part) =>
    withChange(unanswered, {}, { text, parts: parts.filter((one) => one !== part) }).total > 0
  const part = parts.filter((one) => !found.unused.includes(one)).find(finds)
  if (part === undefined) return undefined
  return { message: `No ${noun} meet all of that. Some do without ${quoted(part.text)}.` }
}
