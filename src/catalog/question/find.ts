import { goods } from '../kinds.ts'
import { coarseRegions, type Region } from '../lists.ts'
import { byKind, type Kind, kinds, type Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import type { Filters } from '../search/filters.ts'
import { coverableOf } from '../search/offer-search.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { phraseOf } from '../search/words.ts'
import { operatorBrands } from './operator.ts'
import {
  type Indexes,
  type Part,
  type PartMeaning,
  partsOf,
  type Reading,
  readQuestion,
} from './reading.ts'
import { sumsFor } from './sums.ts'
import type { Use } from './vocabulary.ts'

/** A question over all kinds at once: in plain words, as fields, or both. A field overrides the words. */
export interface Question {
  readonly query?: string | undefined
  readonly kind?: Kind | undefined
  readonly brand?: string | undefined
  readonly country?: string | undefined
  /** A plan must work in every one of these. */
  readonly covers?: readonly string[] | undefined
  /** A region by its coarse name, or by the name in the catalog. Plans are those of many countries. */
  readonly regions?: keyof typeof coarseRegions | Region | undefined
  readonly subType?: string | undefined
  readonly minDataGb?: number | undefined
  readonly minDays?: number | undefined
  readonly maxUsdc?: number | undefined
  /** The line to be topped up. */
  readonly phone?: { readonly country: string; readonly operator: string | undefined } | undefined
  /** The eSIM to be recharged. */
  readonly iccid?: string | undefined
}

interface KindMatches {
  readonly kind: Kind
  readonly filters: Filters
  readonly total: number
  /** The first of them that meet further filters: the likeliest first, then by price, lowest first. */
  readonly first: (most: number, further?: Filters) => readonly Offer[]
  /** By price, but those of the very value that is wanted before those that a buyer gives this value. */
  readonly cheapest: (most: number) => readonly Offer[]
}

export interface Matches {
  readonly wish: Wish
  readonly kinds: readonly KindMatches[]
  readonly total: number
  readonly unused: readonly Part[]
  readonly leftOut: readonly string[]
  /** Of the cards of one value that no card has: those that together have it, or come nearest. */
  readonly sums: readonly string[]
}

/** Among so many offers of a use, one of each brand comes first; and so many cards are added up. */
const maxCompared = 200

export function findFor(
  indexes: Indexes,
  question: Question,
  rates: RateTable | undefined,
  reading = readQuestion(question.query ?? '', indexes, question),
): Matches {
  const wish = wishOf({ indexes, question, rates, reading })
  for (const tried of triesFor(wish)) {
    const kindMatches = tried.kinds.flatMap((kind) => matchesOfKind(kind, tried))
    if (kindMatches.length > 0) return matchesWith(tried, kindMatches)
  }
  return matchesWith(wish, [])
}

function matchesOfKind(kind: Kind, wish: Wish): KindMatches[] {
  const filters = filtersFor(kind, wish)
  const total = filters === undefined ? 0 : wish.indexes[kind].count(filters)
  if (filters === undefined || total === 0) return []
  const first = (most: number, further: Filters = {}) =>
    firstOf(kind, wish, { ...filters, ...further }, most)
  const cheapest = (most: number) => inRanks(wish.indexes[kind], filters, most, [exactIn(wish)])
  return [{ kind, filters, total, first, cheapest }]
}

function matchesWith(wish: Wish, kindMatches: readonly KindMatches[]): Matches {
  const total = kindMatches.reduce((sum, one) => sum + one.total, 0)
  const unused = wish.reading.parts.filter((part) => !part.isExcluded && !wish.used.has(part))
  const leftOut = [...new Set(unused.map(({ text }) => text))]
  return { wish, kinds: kindMatches, total, unused, leftOut, sums: sumsIn(wish, kindMatches[0]) }
}

/** Of the brand that is found first, and in the currency that is meant. */
function sumsIn(wish: Wish, found: KindMatches | undefined): readonly string[] {
  const { value, used, brands, operator } = wish
  const [first] = value && found && !used.has(value.part) ? found.first(1) : []
  if (!value || !found || !first || (brands ?? operator) === undefined) return []
  const { currency } = first.faceValue ?? first.price
  if (value.currencies?.includes(currency) === false) return []
  const filters = { ...found.filters, brandKeys: [first.brand], amount: 'fixed', currency } as const
  const { offers } = wish.indexes[found.kind].search(filters, { offset: 0, limit: maxCompared })
  return sumsFor(offers, value.amount)
}

type Subject = ReturnType<typeof subjectOf>

interface QuestionContext {
  readonly indexes: Indexes
  readonly question: Question
  readonly rates: RateTable | undefined
  readonly reading: Reading
}

function subjectOf(context: QuestionContext) {
  const { question, reading } = context
  const { country, covers = [] } = question
  const includedParts = <T extends PartMeaning['type']>(...types: readonly T[]) =>
    partsOf(reading, ...types).filter(({ isExcluded }) => !isExcluded)
  const bound = (type: 'data' | 'days', name: 'least' | 'most') =>
    includedParts(type).find((part) => part[name] !== undefined)?.[name]
  const isRecharge = question.iccid !== undefined || includedParts('iccid').length > 0
  const named: Kind[] = isRecharge ? ['esim'] : includedParts('kind').map(({ kind }) => kind)
  const brands = brandsFor(context, includedParts('brand'))
  const [use] = brands === undefined ? includedParts('use') : []
  const [inWords] = includedParts('phone')
  const phone = question.phone ?? inWords
  const own = country === undefined ? includedParts('country').map(({ code }) => code) : [country]
  return {
    ...context,
    wanted: includedParts,
    named: [...new Set(named)],
    brands,
    use: use?.use,
    countries: phone?.country === undefined ? [...new Set([...own, ...covers])] : [phone.country],
    regions: country === undefined ? includedParts('region').map(({ countries }) => countries) : [],
    /** The likely operator of the line to be topped up. Its topups come first. */
    operator: phone?.operator,
    plan: {
      minDataGb: question.minDataGb ?? bound('data', 'least'),
      maxDataGb: bound('data', 'most'),
      minDays: question.minDays ?? bound('days', 'least'),
      maxDays: bound('days', 'most'),
    },
  }
}

/** The supplier's keys of the brands that are wanted, or undefined if none is named. */
function brandsFor(
  { indexes, question: { brand } }: QuestionContext,
  parts: readonly { readonly brands: Readonly<Record<Kind, readonly string[]>> }[],
) {
  if (brand !== undefined) return byKind((kind) => brandsNamed(indexes[kind], brand))
  if (parts.length === 0) return undefined
  return byKind((kind) => parts.flatMap((part) => part.brands[kind]))
}

/** By a name or alias, or by the beginnings of the words of a name. */
function brandsNamed(index: SearchIndex, brand: string): readonly string[] {
  const keys = index.counts('brand', { brand }).map(([key]) => key)
  return [...new Set([...(brandLexicon(index).whole.get(phraseOf(brand)) ?? []), ...keys])]
}

function namesGoods({ brands, use, question, wanted: includedParts }: Subject): boolean {
  const { phone, iccid } = question
  const inWords = includedParts('phone', 'iccid').length > 0
  return (brands ?? use ?? phone ?? iccid) !== undefined || inWords
}

/** The kinds that a question is about, the likeliest first, by the first rule that applies; none if it has no subject. */
function kindsFor(subject: Subject): readonly Kind[] {
  const { question, wanted: includedParts, named, brands, use, plan, countries, regions } = subject
  const { query, kind, covers, subType, phone, maxUsdc } = question
  const isPlan = Object.values(plan).some((bound) => bound !== undefined)
  const sold = kinds.filter((one) => brands?.[one].length)
  const both = sold.filter((one) => named.includes(one))
  const isAny =
    query === undefined || maxUsdc !== undefined || includedParts('word', 'money').length > 0
  const ofType = kinds.filter(
    (one) => subType && goods[one].subTypes.some((own) => own === subType),
  )
  const byCoverage: readonly Kind[] = ['esim', ...kinds.filter((one) => one !== 'esim')]
  const rules: readonly (readonly [boolean, readonly Kind[]])[] = [
    [phone !== undefined || includedParts('phone').length > 0, ['topup']],
    [sold.length > 0, both.length > 0 ? both : sold],
    [named.length > 0, named],
    [ofType.length > 0, ofType],
    [use !== undefined && plan.minDataGb === undefined, ['voucher']],
    // If only places are named, mostly plans are wanted.
    [isPlan || covers !== undefined || regions.length > 0 || countries.length > 1, ['esim']],
    [countries.length > 0 || question.regions !== undefined, byCoverage],
    [isAny, kinds],
  ]
  const likely = rules.find(([applies]) => applies)?.[1] ?? []
  const excluded = partsOf(subject.reading, 'kind').filter(({ isExcluded }) => isExcluded)
  return (kind !== undefined && likely.length > 0 ? [kind] : likely).filter(
    (one) => !excluded.some((part) => part.kind === one),
  )
}

interface Value {
  readonly part: Part
  readonly amount: number
  /** ISO 4217 codes, the likeliest first; undefined for any currency. */
  readonly currencies: readonly string[] | undefined
}

export type Wish = ReturnType<typeof wishOf>

function wishOf(question: QuestionContext) {
  const subject = subjectOf(question)
  const { wanted: includedParts, named, brands, use, countries } = subject
  const likelyKinds = kindsFor(subject)
  const local = localCurrencies(subject)
  const isPlan = likelyKinds.length === 1 && likelyKinds[0] === 'esim'
  const value = isPlan ? undefined : valueIn(subject, likelyKinds, local)
  const { limits, price } = priceFor(subject, isPlan, local)
  const used = new Set<Part | undefined>([
    ...includedParts('phone', 'iccid'),
    ...includedParts('brand').filter((part) =>
      kinds.some((kind) => part.brands[kind].some((key) => brands?.[kind].includes(key))),
    ),
    ...includedParts('country').filter(({ code }) => countries.includes(code)),
    ...(subject.regions.length > 0 ? includedParts('region') : []),
    ...(named.some((kind) => likelyKinds.includes(kind)) ? includedParts('kind') : []),
    ...(likelyKinds.includes('voucher')
      ? includedParts('use').filter((part) => part.use === use)
      : []),
    // Vouchers have neither data nor days.
    ...(likelyKinds.some((kind) => kind !== 'voucher') ? includedParts('data', 'days') : []),
    ...limits,
    value?.part,
  ])
  const worth = undefined as readonly Filters[] | undefined
  return { ...subject, kinds: likelyKinds, price, value, worth, used }
}

/** The currencies of what is sold for the countries: what their people mean by a word that several share. */
function localCurrencies({ indexes, wanted: includedParts, countries }: Subject): string[] {
  if (countries.length === 0 || includedParts('money', 'number').length === 0) return []
  const { voucher, topup } = indexes
  return [voucher, topup].flatMap((index) => index.values('currency', { countries }))
}

/** The currencies that an amount is likely in: those of the countries, and dollars before all that share a word. */
function likelyCurrencies(currencies: readonly string[], local: readonly string[]): string[] {
  const own = currencies.filter((code) => local.includes(code))
  if (own.length > 0) return own
  return currencies[0] === 'USD' ? ['USD'] : [...currencies]
}

/** The value of cards and lines. A number without a currency is in that of the country, and for a card in dollars. */
function valueIn(
  subject: Subject,
  likelyKinds: readonly Kind[],
  local: readonly string[],
): Value | undefined {
  const amounts = subject.wanted('money')
  const part = amounts.find(({ exact }) => exact !== undefined)
  if (part?.exact !== undefined) {
    return { part, amount: part.exact, currencies: likelyCurrencies(part.currencies, local) }
  }
  const [number] = namesGoods(subject) || subject.named.length > 0 ? subject.wanted('number') : []
  if (number === undefined || amounts.length > 0) return undefined
  const usual = likelyKinds.length === 1 && likelyKinds[0] === 'voucher' ? ['USD'] : undefined
  return { part: number, amount: number.amount, currencies: local.length > 0 ? local : usual }
}

/** The limits of the price, in USDC. An amount in a currency without a rate limits nothing. */
function priceFor(
  { wanted: includedParts, question, rates }: Subject,
  isPlan: boolean,
  local: readonly string[],
) {
  const limit = (bound: 'least' | 'most' | 'exact') => {
    const part = includedParts('money').find((one) => one[bound] !== undefined)
    if (part === undefined) return undefined
    // Prices are in dollars of the United States.
    const isUsd = part.currencies[0] === 'USD'
    const [currency = ''] = isUsd ? [] : likelyCurrencies(part.currencies, local)
    const rate = isUsd ? 1 : rates?.perUsd[currency]
    return rate === undefined ? undefined : { part, usdc: (part[bound] ?? 0) / rate }
  }
  const least = limit('least')
  const ofPlan = isPlan ? limit('exact') : undefined
  const most = question.maxUsdc === undefined ? (limit('most') ?? ofPlan) : undefined
  const price: Filters = { minUsdc: least?.usdc, maxUsdc: question.maxUsdc ?? most?.usdc }
  return { limits: [least?.part, most?.part], price }
}

/** Words without a meaning that the question may be about, so that nothing is found rather than something else. */
export function unknownWords(wish: Wish): string[] {
  const { reading, kinds, countries, regions } = wish
  const isForLine = kinds.length === 1 && kinds[0] !== 'voucher'
  if (namesGoods(wish) || (isForLine && countries.length + regions.length > 0)) return []
  return [...new Set(partsOf(reading, 'word').map(({ text }) => text))]
}

/** In gigabytes: any data at all. */
const leastData = 0.001

/** What to look for, one after the other: the whole question first, then with fewer of the conditions. */
function triesFor(wish: Wish): Wish[] {
  const { kinds: likelyKinds, named, plan, value, question } = wish
  if (unknownWords(wish).length > 0) return []
  if (question.query === undefined && question.kind === undefined) return [wish, { ...wish, kinds }]
  const tries = value === undefined ? [wish] : worthsOf(value, wish)
  // Topups with data come before those with airtime only.
  if (!likelyKinds.includes('topup') || !named.includes('esim')) return tries
  const withData = { ...plan, minDataGb: plan.minDataGb ?? leastData }
  return [...tries.slice(0, 1).map((first) => ({ ...first, plan: withData })), ...tries]
}

/** Offers with this face value; and if there are none, what it may also mean, and last less than that. */
function worthsOf({ part, amount, currencies }: Value, wish: Wish): Wish[] {
  const of = (more: Filters) => currencies?.map((currency) => ({ currency, ...more })) ?? [more]
  const worth = (...any: readonly Filters[]): Wish => ({ ...wish, worth: any })
  const used = new Set(wish.used)
  used.delete(part)
  const exact = worth(...of({ faceValue: amount }))
  const whatever = { ...wish, used }
  const isDollars = currencies?.includes('USD')
  if (wish.countries.length > 0) {
    // The buyer of a card or a topup in another currency chooses its value in dollars.
    const chosen = worth({ amount: 'open', minUsd: amount, maxUsd: amount })
    return isDollars ? [exact, chosen, whatever] : [exact, whatever]
  }
  if (part.type === 'number') return [exact, worth({ faceValue: amount }), whatever]
  const anyAmount = { ...worth(...of({})), used }
  // A card in a foreign currency is for another country. Dollars may be meant as a price.
  return isDollars ? [exact, anyAmount, whatever] : [exact, anyAmount]
}

/**
 * What the fields demand of a kind, beside what is also said in words. Each counts for every kind, so that none is
 * passed over in silence; undefined if goods of this kind never have it.
 */
function demandsOn(kind: Kind, { question }: Wish): Filters | undefined {
  const { country, covers, regions, subType, minDataGb, minDays, phone, iccid } = question
  if ((phone !== undefined && kind !== 'topup') || (iccid !== undefined && kind !== 'esim')) {
    return undefined
  }
  const { isByCoverage } = goods[kind]
  return {
    ...{ subType, minDataGb, minDays },
    ...(regions === undefined ? {} : inRegion(kind, regions)),
    covers: isByCoverage ? undefined : covers,
    // Words may name a line elsewhere than a visitor usually shops.
    country: phone && country,
  }
}

function inRegion(kind: Kind, region: NonNullable<Question['regions']>): Filters {
  const coarse: Readonly<Record<string, readonly string[]>> = coarseRegions
  const regions = coarse[region] ?? [region]
  return goods[kind].isByCoverage ? { regions, multiCountry: true } : { regions }
}

function filtersFor(kind: Kind, wish: Wish): Filters | undefined {
  const { brands, use, countries, regions, worth, plan, price } = wish
  const demands = demandsOn(kind, wish)
  if (demands === undefined || brands?.[kind].length === 0) return undefined
  const isCard = kind === 'voucher'
  // A plan must work in every country that is named; a card or a line must be from one of them.
  const places = kind === 'esim' ? [] : [...countries, ...regions.flat()]
  const filters: Filters = {
    brandKeys: brands?.[kind],
    every: [isCard && use ? usedFor(use) : [], worth ?? []].flatMap((any) =>
      any.length === 0 ? [] : [{ any }],
    ),
    none: unwantedFor(kind, wish),
    countries: places.length === 0 ? undefined : places,
    ...price,
    ...demands,
    ...(isCard ? {} : plan),
  }
  if (kind !== 'esim') return filters
  return coveringMost(wish.indexes[kind], { ...filters, covers: countries }, regions)
}

/** What is excluded, and, unless a brand is named, test brands. */
function unwantedFor(kind: Kind, { indexes, reading, brands }: Wish): Filters[] {
  const tests = brands === undefined ? brandLexicon(indexes[kind]).tests : []
  const excluded = reading.parts.filter(({ isExcluded }) => isExcluded)
  return [{ brandKeys: tests }, ...excluded.flatMap(one)]

  function one(part: Part): readonly Filters[] {
    if (part.type === 'brand') return [{ brandKeys: part.brands[kind] }]
    if (part.type === 'country') return [{ countries: [part.code] }]
    if (part.type === 'region') return [{ countries: part.countries }]
    return part.type === 'use' && kind === 'voucher' ? usedFor(part.use) : []
  }
}

function usedFor(use: Use): Filters[] {
  return [...textsOf(use), ...use.subTypes.map((subType) => ({ subType }))]
}

function textsOf({ texts }: Use): Filters[] {
  return texts.map((exactText) => ({ exactText }))
}

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

/** The first offers: of each rank by price, and of a use or of several brands one of each before all others. */
function firstOf(kind: Kind, wish: Wish, filters: Filters, most: number): readonly Offer[] {
  const index = wish.indexes[kind]
  const [operator, second] = [operatorIn(kind, wish), exactIn(wish) ?? usedIn(kind, wish)]
  const ranked = (of: Filters, limit: number) => inRanks(index, of, limit, [operator, second])
  const isOfUse = wish.use !== undefined && kind === 'voucher'
  // Always of equally many, so that pages neither repeat nor skip any.
  const compared = isOfUse
    ? partedBy(second, filters).flatMap((part) => ranked(part, maxCompared))
    : []
  const brands = new Set<string>()
  const ofUse = compared.filter(({ brand }) => brands.size < brands.add(brand).size)
  const named = wish.wanted('brand').length > 1 ? (wish.brands?.[kind] ?? []) : []
  const ofBrands = named.flatMap((brand) => ranked({ ...filters, brandKeys: [brand] }, 1))
  return [...new Set([...ofUse, ...ofBrands, ...ranked(filters, most)])].slice(0, most)
}

function partedBy(likely: Filters | undefined, filters: Filters): readonly Filters[] {
  if (likely === undefined) return [filters]
  const { every = [], none = [] } = filters
  return [
    { ...filters, every: [...every, likely] },
    { ...filters, none: [...none, likely] },
  ]
}

/** By price, and before that those that meet the first of the likely filters, and of equal ones those that meet the next. */
function inRanks(
  index: SearchIndex,
  filters: Filters,
  most: number,
  likely: readonly (Filters | undefined)[],
): readonly Offer[] {
  const [first, ...others] = likely.filter((one) => one !== undefined)
  if (first === undefined) return index.search(filters, { offset: 0, limit: most }, 'price').offers
  const offers: Offer[] = []
  for (const part of partedBy(first, filters)) {
    if (offers.length === most) break
    offers.push(...inRanks(index, part, most - offers.length, others))
  }
  return offers
}

/** The topups of the likely operator of the line. */
function operatorIn(kind: Kind, { operator, brands, indexes }: Wish): Filters | undefined {
  if (kind !== 'topup' || operator === undefined || brands !== undefined) return undefined
  const brandKeys = operatorBrands(indexes[kind], operator)
  return brandKeys && { brandKeys }
}

/** A card of the very value comes before one that may be given it. */
function exactIn({ worth }: Wish): Filters | undefined {
  return worth === undefined ? undefined : { amount: 'fixed' }
}

function usedIn(kind: Kind, { use }: Wish): Filters | undefined {
  return kind === 'voucher' && use && use.texts.length > 0 ? { any: textsOf(use) } : undefined
}
