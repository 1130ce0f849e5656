import type { Kind, Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { brandLexicon, operatorBrands } from '../search/brand-lexicon.ts'
import type { Filters } from '../search/filters.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { coveredBy } from '../search/stock.ts'
import { type Asked, askedIn, namesGoods, type Question, type Value } from './asked.ts'
import { filtersFor } from './clauses.ts'
import { isInDollars } from './currencies.ts'
import type { Indexes } from './reading.ts'

interface FoundKind {
  readonly kind: Kind
  /** By price, lowest first; those of the likely operator of a phone number before all others. */
  readonly offers: readonly Offer[]
  /** The lowest price of each. */
  readonly usdc: readonly number[]
  readonly total: number
}

export interface Found {
  readonly asked: Asked
  readonly kinds: readonly FoundKind[]
  readonly total: number
  /** Words of the question that the result does not take into account. */
  readonly leftOut: readonly string[]
}

/** Finds what a question asks for: of each kind the first `most`, by price. */
export function findFor(
  indexes: Indexes,
  question: Question,
  rates: RateTable | undefined,
  most: number,
): Found {
  const asked = askedIn(indexes, question, rates)
  const tries = triesFor(indexes, asked)
  for (const { asked: tried, leftOut } of tries) {
    const found = foundBy(indexes, tried, most)
    const total = totalOf(found)
    if (total > 0) {
      const filled = found.filter((one) => one.total > 0)
      return {
        asked: tried,
        kinds: filled,
        total,
        leftOut: [...leftOut, ...untoldOf(tried, filled)],
      }
    }
  }
  const { unknown } = asked.reading
  const first = tries[0]?.asked ?? { ...asked, words: unknown }
  return { asked: first, kinds: [], total: 0, leftOut: unknown }
}

/** Of each kind that is asked for, the first `most` that meet exactly this. */
function foundBy(indexes: Indexes, asked: Asked, most: number): FoundKind[] {
  return asked.kinds.map((kind) => findLikely(indexes[kind], kind, asked, most))
}

function totalOf(found: readonly FoundKind[]): number {
  return found.reduce((sum, one) => sum + one.total, 0)
}

/** Whether anything meets exactly this. */
export function isSold(indexes: Indexes, asked: Asked): boolean {
  return totalOf(foundBy(indexes, asked, 1)) > 0
}

/** What was asked for that the found offers do not tell. Vouchers, for example, have neither data nor days. */
function untoldOf({ reading, ignored }: Asked, found: readonly FoundKind[]): string[] {
  const { untold, said = [] } = reading
  const isCards = found.every(({ kind }) => kind === 'voucher')
  return [...untold, ...(isCards ? said : []), ...ignored]
}

interface Try {
  readonly asked: Asked
  readonly leftOut: readonly string[]
}

/** What to look for, one after the other: the whole question first, then with fewer of the conditions. */
function triesFor(indexes: Indexes, asked: Asked): Try[] {
  const first = firstTry(indexes, asked)
  if (first === undefined) return []
  const tries = [first]
  const less = (change: Partial<Asked>, ...more: readonly string[]) => {
    const last = tries.at(-1) as Try
    tries.push({ asked: { ...last.asked, ...change }, leftOut: [...last.leftOut, ...more] })
  }
  const { wantsData, reading } = asked
  if (first.asked.words.length > 0 && mayLeaveOut(asked)) less({ words: [] }, ...reading.unknown)
  if (wantsData) less({ wantsData: false })
  const last = tries.at(-1) as Try
  for (const { value, leftOut } of otherValues(asked)) {
    tries.push({ asked: { ...last.asked, value }, leftOut: [...last.leftOut, ...leftOut] })
  }
  return tries
}

interface OtherValue {
  readonly value: Value | undefined
  readonly leftOut: readonly string[]
}

/** What to look for if nothing has the value that was asked for: first what it may also mean, and then less of it. */
function otherValues({ value, reading, countries }: Asked): OtherValue[] {
  if (value === undefined) return []
  const isSomewhere = countries.length > 0
  const instead = (change: Partial<Value>, ...leftOut: readonly string[]) => ({
    value: { ...value, ...change },
    leftOut,
  })
  const without = { value: undefined, leftOut: [value.said] }
  const named = reading.value
  if (named === undefined) {
    return isSomewhere ? [without] : [instead({ currencies: undefined }), without]
  }
  const chosen = value.currencies?.includes('USD') ? [instead({ isInDollars: true })] : []
  const anyAmount = instead({ amount: undefined }, value.said)
  if (isSomewhere) return [...chosen, anyAmount, without]
  // A card is seldom of use outside of its country, so only dollars are also looked for in others: prices are in them.
  return isInDollars(named)
    ? [anyAmount, ...chosen, without]
    : [instead({ currencies: named.currencies }), anyAmount]
}

/** Unknown words must be in the texts of offers; otherwise they are left out if that misleads nobody. */
function firstTry(indexes: Indexes, asked: Asked): Try | undefined {
  const { reading, kinds: likely } = asked
  const { unknown } = reading
  if (unknown.length === 0 || namesGoods(reading)) return { asked, leftOut: unknown }
  const isSaid = (word: string) => likely.some((kind) => isWord(indexes[kind], word))
  if (unknown.every(isSaid)) return { asked: { ...asked, words: unknown }, leftOut: [] }
  return mayLeaveOut(asked) ? { asked, leftOut: unknown } : undefined
}

/** Whether the question is hardly about its unknown words. */
function mayLeaveOut({ reading, kinds: likely, countries, regions, minDataGb }: Asked): boolean {
  if (countries.length + regions.length === 0) return false
  const [only] = likely
  const isForLine = likely.length === 1 && only !== 'voucher'
  if (minDataGb !== undefined || isForLine) return true
  return reading.kinds.length > 0 && reading.unknown.length < reading.length / 4
}

function isWord(index: SearchIndex, word: string): boolean {
  return word.length >= 4 && index.hasWord(word)
}

/** The offers of a kind, with those of the likely operator of the phone number before all others. */
function findLikely(index: SearchIndex, kind: Kind, asked: Asked, most: number): FoundKind {
  const { operator, reading } = asked
  const filters = filtersFor(index, kind, asked)
  if (filters === undefined) return { kind, offers: [], usdc: [], total: 0 }
  const all = cheapest(index, regionally(index, kind, asked, filters), most)
  if (kind !== 'topup' || operator === undefined || reading.brands !== undefined)
    return { kind, ...all }
  const brandKeys = operatorBrands(brandLexicon(index), operator)
  if (brandKeys.length === 0) return { kind, ...all }
  const likely = cheapest(index, { ...filters, brandKeys }, most)
  const others = cheapest(index, { ...filters, none: [{ brandKeys }] }, most)
  return {
    kind,
    total: all.total,
    offers: [...likely.offers, ...others.offers],
    usdc: [...likely.usdc, ...others.usdc],
  }
}

function cheapest(index: SearchIndex, filters: Filters | undefined, limit: number) {
  if (filters === undefined) return { offers: [], usdc: [], total: 0 }
  return index.search(filters, { offset: 0, limit }, 'price')
}

/** The plans that cover most of each region, its most visited countries first; undefined if none cover half of one. */
function regionally(
  index: SearchIndex,
  kind: Kind,
  { regions }: Asked,
  filters: Filters,
): Filters | undefined {
  if (kind !== 'esim') return filters
  let covers = filters.covers ?? []
  for (const region of regions) {
    let covered = 0
    for (const code of region) {
      const more = [...covers, code]
      if (index.count({ ...filters, covers: more }) === 0) continue
      covers = more
      covered += 1
    }
    if (covered < region.length / 2) return undefined
  }
  return { ...filters, covers }
}

/** How many countries a plan works in, and up to `maxListed` of them, those asked for first. */
export function coverageOf(
  offer: Offer,
  asked: readonly string[],
): { readonly total: number; readonly countries: readonly string[] } {
  const covered = coveredBy(offer)
  const first = asked.filter((code) => covered.includes(code))
  return {
    total: covered.length,
    countries: [...new Set([...first, ...covered])].slice(0, Math.max(maxListed, first.length)),
  }
}

/** A plan for the whole world covers more countries than an answer should list. */
const maxListed = 12
