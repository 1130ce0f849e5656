import { countryName } from '../countries.ts'
import { goods } from '../kinds.ts'
import { type Kind, kinds } from '../offer.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import { type Hint, listed, mostOffered, nearestBrands, nearFirst } from '../search/offer-search.ts'
import { findFor, type Matches, type Question, unknownWords, type Wish } from './find.ts'
import type { Part, Reading } from './reading.ts'

/** Explains why a question finds nothing. The question finds something with the value that the hint proposes. */
export function questionHint({ wish, unused }: Matches): Hint {
  const words = unknownWords(wish)
  const [kind, ...others] = wish.kinds
  const noun = others.length === 0 && kind !== undefined ? goods[kind].plural : 'offers'
  const hint = budgetHint(wish, noun) ?? unknownBrandHint(wish) ?? brandHint(wish, noun)
  if (hint !== undefined) return hint
  if (kind === undefined) return { message: noSubject }
  if (words.length > 0) return { message: `No ${noun} have ${words.map(quoted).join(', ')}.` }
  return lessHint(wish, unused, `No ${noun} meet all of that.`)
}

const noSubject =
  'The question names nothing that the store sells. Name a brand, a country, a phone number that starts with +, an amount, or a kind: voucher, topup or esim.'

function quoted(text: string): string {
  return `"${text}"`
}

function withChange(
  wish: Wish,
  change: Partial<Question>,
  reading: Reading = wish.reading,
): Matches {
  return findFor(wish.indexes, { ...wish.question, ...change }, wish.rates, reading)
}

function budgetHint(wish: Wish, noun: string): Hint | undefined {
  if (wish.price.maxUsdc === undefined) return undefined
  const dearer = withChange(wish, { maxUsdc: Number.MAX_SAFE_INTEGER })
  const prices = dearer.kinds.flatMap(
    ({ kind, filters }) => wish.indexes[kind].lowestUsdc(filters) ?? [],
  )
  if (prices.length === 0) return undefined
  const nearest = Math.min(...prices).toFixed(2)
  const message = `No ${noun} cost so little. The cheapest costs ${nearest} USDC.`
  return { parameter: 'maxUsdc', nearest, message }
}

/** Each costs a search. */
const maxTries = 12

function unknownBrandHint({ question: { brand }, brands, indexes }: Wish): Hint | undefined {
  if (brand === undefined || kinds.some((kind) => brands?.[kind].length)) return undefined
  const near = [...new Set(kinds.flatMap((kind) => nearestBrands(indexes[kind], brand)))]
  const [nearest] = near
  const message = `No brand is called "${brand}".`
  if (nearest === undefined) return { parameter: 'brand', message }
  return { parameter: 'brand', nearest, message: `${message} These are sold: ${listed(near)}.` }
}

function brandHint(wish: Wish, noun: string): Hint | undefined {
  const { indexes, brands, countries, kinds: likelyKinds } = wish
  const placesOf = (kind: Kind) => placesElsewhere(wish, kind, brands?.[kind] ?? [])
  const kind = likelyKinds.find((one) => placesOf(one).length > 0)
  if (kind === undefined) return undefined
  const places = placesOf(kind)
  const name = brandLexicon(indexes[kind]).nameOf(brands?.[kind][0] ?? '')
  const message = `No ${noun} of ${name} are for ${countries.map(countryName).join(', ')}. ${name} is sold for: ${listed(places)}. An offer for another country may not work.`
  const nearest = places
    .slice(0, maxTries)
    .find((country) => withChange(wish, { country }).total > 0)
  return nearest === undefined ? { message } : { parameter: 'country', nearest, message }
}

function placesElsewhere(
  { indexes, countries }: Wish,
  kind: Kind,
  brandKeys: readonly string[],
): string[] {
  if (countries.length === 0 || brandKeys.length === 0) return []
  const field = goods[kind].isByCoverage ? 'covers' : 'country'
  const sold = mostOffered(indexes[kind], field, { brandKeys })
  const isElsewhere = !sold.some((code) => countries.includes(code))
  return isElsewhere ? nearFirst(indexes[kind], countries, sold) : []
}

/** The fields, in the order in which a caller would rather leave them out. */
const fieldNames = [
  ...(['minDataGb', 'minDays', 'covers', 'regions', 'subType', 'iccid'] as const),
  ...(['phone', 'brand', 'country', 'kind', 'maxUsdc'] as const),
]
type FieldName = (typeof fieldNames)[number]

/** What must be left out to find something: one field, one part of the words, or several fields. */
function lessHint(wish: Wish, unused: readonly Part[], message: string): Hint {
  const { question, reading } = wish
  const given = fieldNames.filter((name) => question[name] !== undefined)
  const finds = (...names: readonly FieldName[]) => withChange(wish, omitted(names)).total > 0
  const parameter = given.find((name) => finds(name))
  if (parameter !== undefined) {
    const conflict = conflictWith(parameter, given, wish)
    return { parameter, message: `${message}${conflict} Some do without ${parameter}.` }
  }
  const isDecisive = (part: Part) => {
    const parts = reading.parts.filter((one) => one !== part)
    return withChange(wish, {}, { ...reading, parts }).total > 0
  }
  const part = reading.parts.filter((one) => !unused.includes(one)).find(isDecisive)
  if (part !== undefined) return { message: `${message} Some do without ${quoted(part.text)}.` }
  const several = given.findIndex((_, at) => finds(...given.slice(0, at + 1)))
  if (several < 0) return { message }
  const names = given.slice(0, several + 1)
  return { message: `${message} Some do without ${names.join(' and ')}.` }
}

/** Names the field that alone rules this one out: "minDays does not go with kind voucher." */
function conflictWith(
  parameter: FieldName,
  given: readonly FieldName[],
  { indexes, question, rates }: Wish,
): string {
  const other = given.find((name) => {
    const both: Question = { [parameter]: question[parameter], [name]: question[name] }
    return name !== parameter && findFor(indexes, both, rates).total === 0
  })
  if (other === undefined) return ''
  const value = typeof question[other] === 'object' ? '' : ` ${question[other]}`
  return ` ${parameter} does not go with ${other}${value}.`
}

function omitted(names: readonly FieldName[]): Partial<Question> {
  return Object.fromEntries(names.map((name) => [name, undefined]))
}
