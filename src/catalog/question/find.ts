import type { Sliced } from '../../lib/slices.ts'
import type { Kind, Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { brandLexicon, operatorBrands } from '../search/brand-lexicon.ts'
import type { Filters } from '../search/filters.ts'
import { coverableOf } from '../search/nearest.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { coveredBy } from '../search/stock.ts'
import { type Indexes, type Part, partsOf, readQuestion } from './reading.ts'
import { type Use, vocabulary } from './vocabulary.ts'
import { namesGoods, type Question, type Value, type Wish, wishOf } from './wish.ts'

/** The offers of one kind that a question finds. */
export interface FoundKind {
  readonly kind: Kind
  readonly filters: Filters
  readonly total: number
  /** The first of them that meet further filters: the likeliest first, then by price, lowest first. */
  readonly first: (most: number, further?: Filters) => readonly Offer[]
}

export interface Found {
  readonly wish: Wish
  /** Only kinds with offers. */
  readonly kinds: readonly FoundKind[]
  readonly total: number
  /** The parts of the question that the result does not take into account. */
  readonly unused: readonly Part[]
  /** The same in words. */
  readonly leftOut: readonly string[]
}

/** Prepares what takes time, so that the first question need not wait for it. */
export function* prepareQuestions(indexes: Indexes): Sliced<void> {
  vocabulary()
  for (const index of Object.values(indexes)) {
    yield
    brandLexicon(index)
  }
}

/** Finds what a question asks for. */
export function findFor(
  indexes: Indexes,
  question: Question,
  rates: RateTable | undefined,
  reading = readQuestion(question.query ?? '', indexes, question),
): Found {
  const wish = wishOf(indexes, question, reading, rates)
  let nothing: Found | undefined
  for (const tried of triesFor(indexes, wish)) {
    const found = foundBy(indexes, tried)
    if (found.total > 0) return found
    nothing ??= found
  }
  return nothing ?? foundWith({ ...wish, words: unknownWords(wish) }, [])
}

/** The offers that meet exactly this. */
function foundBy(indexes: Indexes, wish: Wish): Found {
  const found = wish.kinds.flatMap((kind): FoundKind[] => {
    const index = indexes[kind]
    const filters = filtersFor(index, kind, wish)
    const total = filters === undefined ? 0 : index.count(filters)
    if (filters === undefined || total === 0) return []
    const first = (most: number, further: Filters = {}) =>
      firstOf(index, { kind, wish, filters: { ...filters, ...further } }, most)
    return [{ kind, filters, total, first }]
  })
  return foundWith(wish, found)
}

function foundWith(wish: Wish, kinds: readonly FoundKind[]): Found {
  const total = kinds.reduce((sum, one) => sum + one.total, 0)
  const isUsed = ({ text }: Part) => total > 0 && wish.words.includes(text)
  const unused = wish.reading.parts.filter((part) => wish.unused.has(part) && !isUsed(part))
  return { wish, kinds, total, unused, leftOut: [...new Set(unused.map(({ text }) => text))] }
}

function unknownWords({ reading }: Wish): string[] {
  return [...new Set(partsOf(reading, 'word').map(({ text }) => text))]
}

/** What to look for, one after the other: the whole question first, then with fewer of the conditions. */
function* triesFor(indexes: Indexes, wish: Wish): Generator<Wish> {
  const first = firstTry(indexes, wish)
  if (first === undefined) return
  yield first
  let last = first
  if (first.words.length > 0 && mayLeaveOut(wish)) {
    last = { ...first, words: [] }
    yield last
  }
  if (wish.wantsData) {
    last = { ...last, wantsData: false }
    yield last
  }
  const { value } = wish
  if (value === undefined) return
  const without = { unused: new Set([...last.unused, value.part]) }
  for (const other of otherValues(wish, value)) {
    const isDropped = other?.amount === undefined
    yield { ...last, value: other, ...(isDropped ? without : {}) }
  }
}

/** What to look for if nothing has the value that was asked for: first what it may also mean, and then less of it. */
function otherValues({ countries }: Wish, value: Value): readonly (Value | undefined)[] {
  const { part, currencies } = value
  const isSomewhere = countries.length > 0
  if (part.type !== 'money') {
    return isSomewhere ? [undefined] : [{ ...value, currencies: undefined }, undefined]
  }
  const chosen = currencies?.includes('USD') ? [{ ...value, isInDollars: true }] : []
  const anyAmount = { ...value, amount: undefined }
  if (isSomewhere) return [...chosen, anyAmount, undefined]
  // A card is seldom of use outside of its country, so only dollars are also looked for in others: prices are in them.
  return part.currencies[0] === 'USD'
    ? [anyAmount, ...chosen, undefined]
    : [{ ...value, currencies: part.currencies }, anyAmount]
}

/** Unknown words must be in the texts of offers; otherwise they are left out if that misleads nobody. */
function firstTry(indexes: Indexes, wish: Wish): Wish | undefined {
  const unknown = unknownWords(wish)
  if (unknown.length === 0 || namesGoods(wish)) return wish
  const isSaid = (word: string) =>
    word.length >= 4 && wish.kinds.some((kind) => indexes[kind].hasWord(word))
  if (unknown.every(isSaid)) return { ...wish, words: unknown }
  return mayLeaveOut(wish) ? wish : undefined
}

/** Whether the question is hardly about its unknown words. */
function mayLeaveOut(wish: Wish): boolean {
  const { reading, kinds: likely, countries, regions, plan } = wish
  if (countries.length + regions.length === 0) return false
  const isForLine = likely.length === 1 && likely[0] !== 'voucher'
  if (plan.minDataGb !== undefined || isForLine) return true
  const length = reading.text.split(' ').length
  return partsOf(reading, 'kind').length > 0 && unknownWords(wish).length < length / 4
}

/** In gigabytes: any data at all. */
const leastData = 0.001

/** The filters for offers of this kind; undefined if it has none of the brand or the region. */
function filtersFor(index: SearchIndex, kind: Kind, wish: Wish): Filters | undefined {
  const { brands, use, regions, words, value, plan, price, wantsData } = wish
  if (brands?.[kind].length === 0) return undefined
  const isUse = use !== undefined && brands === undefined && kind === 'voucher'
  const filters: Filters = {
    brandKeys: brands?.[kind],
    words,
    every: [
      ...(isUse ? [{ any: usedFor(use) }] : []),
      ...(value === undefined ? [] : [{ any: worth(value) }]),
    ],
    none: unwantedFor(index, kind, wish),
    ...placesFor(kind, wish),
    ...price,
    // Vouchers have neither data nor days.
    ...(kind === 'voucher' ? {} : plan),
  }
  const withData = wantsData && plan.minDataGb === undefined && kind !== 'voucher'
  const all = withData ? { ...filters, minDataGb: leastData } : filters
  return kind === 'esim' && regions.length > 0 ? coveringMost(index, all, regions) : all
}

/** A plan must work in every country that is named; a card or a line must be from one of them. */
function placesFor(kind: Kind, { countries, regions }: Wish): Filters {
  if (kind === 'esim') return countries.length === 0 ? {} : { covers: countries }
  const own = [...countries, ...regions.flat()]
  return own.length === 0 ? {} : { countries: own }
}

/** What is excluded, and, unless a brand is named, test brands. */
function unwantedFor(index: SearchIndex, kind: Kind, { reading, brands }: Wish): Filters[] {
  const tests = brands === undefined ? brandLexicon(index).tests : []
  const excluded = reading.parts.filter(({ isExcluded }) => isExcluded)
  return [...(tests.length === 0 ? [] : [{ brandKeys: tests }]), ...excluded.flatMap(one)]

  function one(part: Part): Filters[] {
    if (part.type === 'brand') return [{ brandKeys: part.brands[kind] }]
    if (part.type === 'country') return [{ countries: [part.code] }]
    if (part.type === 'region') return [{ countries: part.countries }]
    return part.type === 'use' && kind === 'voucher' ? usedFor(part.use) : []
  }
}

/** What says so in its texts, and everything of the sub-type, which is wider: games and cinemas share one. */
function usedFor({ texts, subTypes }: Use): Filters[] {
  return [...texts.map((exactText) => ({ exactText })), ...subTypes.map((subType) => ({ subType }))]
}

/** Offers with this face value, and those whose buyer can choose it. */
function worth({ amount, currencies, isInDollars }: Value): Filters[] {
  if (amount === undefined) return (currencies ?? []).map((currency) => ({ currency }))
  if (currencies === undefined) return [{ faceValue: amount }]
  const chosen: Filters = { amount: 'open', minUsd: amount, maxUsd: amount }
  return [
    ...currencies.map((currency) => ({ currency, faceValue: amount })),
    ...(isInDollars ? [chosen] : []),
  ]
}

/** The plans that cover most of each region, its most visited countries first; undefined if none cover half of one. */
function coveringMost(
  index: SearchIndex,
  filters: Filters,
  regions: Wish['regions'],
): Filters | undefined {
  let covers = filters.covers ?? []
  for (const region of regions) {
    const covered = coverableOf(index, region, { ...filters, covers })
    if (covered.length < region.length / 2) return undefined
    covers = [...covers, ...covered]
  }
  return { ...filters, covers }
}

type Search = Pick<FoundKind, 'kind' | 'filters'> & { readonly wish: Wish }

/** The first offers: of each rank by price, and of a use or of several brands one of each before all others. */
function firstOf(index: SearchIndex, search: Search, most: number): readonly Offer[] {
  const limit = Math.max(most, isOfUse(search) ? maxCompared : 0)
  const ranks = ranksFor(index, search).map(
    (filters) => index.search(filters, { offset: 0, limit }, 'price').offers,
  )
  // Always of equally many, so that pages neither repeat nor skip any.
  const compared = ranks.flatMap((offers) => offers.slice(0, maxCompared))
  const first = isOfUse(search) ? oneOfEachBrand(compared) : cheapestOfEach(index, search)
  return [...new Set([...first, ...ranks.flat()])].slice(0, most)
}

/** Among so many offers of a use, one of each brand comes first. */
const maxCompared = 200

function isOfUse({ kind, wish: { use, brands } }: Search): boolean {
  return use !== undefined && brands === undefined && kind === 'voucher'
}

function oneOfEachBrand(offers: readonly Offer[]): Offer[] {
  const brands = new Set<string>()
  return offers.filter(({ brand }) => brands.size < brands.add(brand).size)
}

/** If several brands are named, the cheapest offer of each, so that none is hidden behind another. */
function cheapestOfEach(index: SearchIndex, { kind, wish, filters }: Search): Offer[] {
  const named = partsOf(wish.reading, 'brand').filter(({ isExcluded }) => !isExcluded)
  if (named.length < 2) return []
  return named.flatMap((part) => {
    const brandKeys = part.brands[kind].filter((key) => wish.brands?.[kind].includes(key))
    return index.search({ ...filters, brandKeys }, { offset: 0, limit: 1 }, 'price').offers
  })
}

/** Filters that together find the same: of the likely operator, of exactly the value, or what says the use comes first. */
function ranksFor(index: SearchIndex, search: Search): Filters[] {
  const { every = [], none = [] } = search.filters
  const first = likeliest(index, search)
  if (first === undefined) return [search.filters]
  return [
    { ...search.filters, every: [...every, first] },
    { ...search.filters, none: [...none, first] },
  ]
}

function likeliest(index: SearchIndex, search: Search): Filters | undefined {
  const { kind, wish } = search
  const { operator, brands, value, use } = wish
  if (kind === 'topup' && operator !== undefined && brands === undefined) {
    const brandKeys = operatorBrands(brandLexicon(index), operator)
    if (brandKeys.length > 0) return { brandKeys }
  }
  if (value?.amount !== undefined) return { amount: 'fixed' }
  const texts = isOfUse(search) ? (use?.texts ?? []) : []
  return texts.length === 0 ? undefined : { any: texts.map((exactText) => ({ exactText })) }
}

/** How many countries a plan works in, and some of them, those asked for first. */
export function coverageOf(
  offer: Offer,
  wanted: readonly string[],
): { readonly total: number; readonly countries: readonly string[] } {
  const covered = coveredBy(offer)
  const first = wanted.filter((code) => covered.includes(code))
  const countries = [...new Set([...first, ...covered])].slice(0, maxListed)
  return { total: covered.length, countries }
}

/** A plan for the whole world covers more countries than an answer should list. */
const maxListed = 12
