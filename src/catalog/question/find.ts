import type { Kind } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { type Bits, countOf, docsIn, hasBit, intersection, nextBit } from '../search/bits.ts'
import { brandLexicon, operatorBrands } from '../search/brand-lexicon.ts'
import { listAt, placeIn, setAt } from '../search/column.ts'
import type { Docs } from '../search/docs.ts'
import { met, setOf } from '../search/filters.ts'
import type { SearchIndex, SoldIndex } from '../search/search-index.ts'
import { addWord } from '../search/terms.ts'
import { type Asked, askedIn, namesGoods, type Question, type Value } from './asked.ts'
import { clausesFor, withoutTests } from './clauses.ts'
import { isInDollars } from './currencies.ts'
import type { Indexes } from './reading.ts'
import { vocabulary } from './vocabulary.ts'

export interface FoundKind {
  readonly kind: Kind
  /** By price, lowest first; those of the likely operator of a phone number before all others. */
  readonly docs: Docs
  readonly total: number
}

export interface Found {
  readonly asked: Asked
  readonly kinds: readonly FoundKind[]
  readonly total: number
  /** Words of the question that the result does not take into account. */
  readonly leftOut: readonly string[]
}

/** Prepares what takes time, once for a catalog, before the first question. */
export function prepareQuestions(indexes: Indexes): void {
  vocabulary()
  for (const index of Object.values(indexes)) withoutTests(index)
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

function isWord({ words, scratch }: SearchIndex, word: string): boolean {
  if (word.length < 4) return false
  scratch.begin()
  return addWord(words, word, scratch.bits()) > 0
}

/** The offers of a kind, with those of the likely operator of the phone number before all others. */
function findLikely(index: SoldIndex, kind: Kind, asked: Asked, most: number): FoundKind {
  const { operator, reading } = asked
  const all = findKind(index, kind, asked, most)
  if (kind !== 'topup' || operator === undefined || reading.brands !== undefined) return all
  const codes = operatorBrands(brandLexicon(index), operator)
  if (codes.length === 0) return all
  const brands = { voucher: [], topup: codes, esim: [] }
  const likely = findKind(index, kind, { ...asked, reading: { ...reading, brands } }, most)
  const others = all.docs.filter((doc) => !codes.includes(index.names.codes[doc] as number))
  return { ...all, docs: Uint32Array.of(...likely.docs, ...others) }
}

function findKind(index: SoldIndex, kind: Kind, asked: Asked, most: number): FoundKind {
  index.scratch.begin()
  const clauses = clausesFor(index, kind, asked)
  if (clauses === undefined) return { kind, docs: none, total: 0 }
  clauses.sort((one, other) => one.most - other.most)
  const found = met(index, clauses)
  if (found.total === 0) return { kind, docs: none, total: 0 }
  if (kind !== 'esim' || asked.regions.length === 0) {
    const docs =
      'docs' in found
        ? cheapestOf(index, found.docs, found.total, most)
        : cheapestIn(index, found.bits, found.total, most)
    return { kind, docs, total: found.total }
  }
  const regional = coveringMost(index, setOf(index, found), asked.regions)
  const total = regional === undefined ? 0 : countOf(regional)
  return { kind, total, docs: regional ? cheapestIn(index, regional, total, most) : none }
}

const none: Docs = new Uint32Array(0)

/** The plans that cover most of each region, its most visited countries first; undefined if none cover half of one. */
function coveringMost(
  index: SearchIndex,
  found: Bits,
  regions: Asked['regions'],
): Bits | undefined {
  let set: Bits | undefined = found
  for (const region of regions) set = set && coveringRegion(index, set, region)
  return set
}

function coveringRegion(
  index: SearchIndex,
  found: Bits,
  region: readonly string[],
): Bits | undefined {
  let set = found
  let covered = 0
  for (const code of region) {
    const place = placeIn(index.covered, code)
    if (place === undefined) continue
    const both = intersection([set, setAt(index.covered, place)], index.scratch.bits())
    if (nextBit(both, 0) < 0) continue
    set = both
    covered += 1
  }
  return covered < region.length / 2 ? undefined : set
}

/** The cheapest docs of a set. If it is large, all docs are walked by price until enough of them are in it. */
function cheapestIn(index: SoldIndex, set: Bits, total: number, most: number): Docs {
  const { usdc, size, scratch } = index
  const count = Math.min(total, most)
  // For each doc that is in the set, the walk passes about size / total docs.
  if (count * size < total * total) {
    const docs = new Uint32Array(count)
    for (let at = 0, taken = 0; taken < count; at++) {
      const doc = usdc.low[at] as number
      if (hasBit(set, doc)) docs[taken++] = doc
    }
    return docs
  }
  const docs = scratch.docs()
  return cheapestOf(index, docs, docsIn(set, docs), most)
}

/** The cheapest of the first `total` docs of a list. The best so far are kept in order. */
function cheapestOf(
  { usdc: { ranks, low } }: SoldIndex,
  docs: Docs,
  total: number,
  most: number,
): Docs {
  const count = Math.min(total, most)
  const best = new Uint32Array(count)
  for (let at = 0; at < count; at++) best[at] = ranks[docs[at] as number] as number
  best.sort()
  for (let at = count; at < total; at++) {
    const rank = ranks[docs[at] as number] as number
    if (rank < (best[count - 1] as number)) insert(best, rank)
  }
  return best.map((rank) => low[rank] as number)
}

/** Puts a number in its place among ascending ones, and drops the last. */
function insert(numbers: Uint32Array, number: number): void {
  let at = numbers.length - 1
  while (at > 0 && (numbers[at - 1] as number) > number) {
    numbers[at] = numbers[at - 1] as number
    at -= 1
  }
  numbers[at] = number
}

/** How many countries a doc works in, and up to `maxListed` of them, those asked for first. */
export function coverageOf(
  { covered }: SearchIndex,
  doc: number,
  asked: readonly string[],
): { readonly total: number; readonly countries: readonly string[] } {
  const places = listAt(covered.valuesOf, covered.codes[doc] as number)
  const codes = new Set<string>()
  for (const code of asked) {
    const place = placeIn(covered, code)
    if (place !== undefined && places.includes(place)) codes.add(code)
  }
  for (let at = 0; at < places.length && codes.size < maxListed; at++) {
    codes.add(covered.values[places[at] as number] as string)
  }
  return { total: places.length, countries: [...codes] }
}

/** A plan for the whole world covers more countries than an answer should list. */
const maxListed = 12
