import { byKind, kinds } from '../good.ts'
import type { Kind, Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { brandLexicon, operatorBrands } from '../search/brand-lexicon.ts'
import type { Filters } from '../search/filters.ts'
import { coverableOf } from '../search/offer-search.ts'
import type { SearchIndex } from '../search/search-index.ts'
import {
  type Brands,
  type Indexes,
  type Part,
  partsOf,
  type Reading,
  readQuestion,
  type Said,
} from './reading.ts'
import type { Use } from './vocabulary.ts'

/** A question over all kinds at once: in plain words, as fields, or both. A field overrides the words. */
export interface Question {
  readonly query?: string | undefined
  readonly kind?: Kind | undefined
  readonly country?: string | undefined
  /** A plan must work in every one of these. */
  readonly covers?: readonly string[] | undefined
  readonly minDataGb?: number | undefined
  readonly minDays?: number | undefined
  readonly maxUsdc?: number | undefined
  /** The country of the line to be topped up, and its likely operator. */
  readonly phoneCountry?: string | undefined
  readonly phoneOperator?: string | undefined
}

/** The value that a card or a line should receive. */
interface Value {
  /** Undefined for any amount in these currencies. */
  readonly amount: number | undefined
  /** ISO 4217 codes; undefined for any currency. */
  readonly currencies: readonly string[] | undefined
  readonly part: Part
  /** Also met by offers in other currencies whose buyer chooses the value, which is given in dollars. */
  readonly isInDollars?: boolean
}

/** What a question asks for, as conditions that must all be met. */
export type Wish = ReturnType<typeof wishOf>

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

export function findFor(
  indexes: Indexes,
  question: Question,
  rates: RateTable | undefined,
  reading = readQuestion(question.query ?? '', indexes, question),
): Found {
  const wish = wishOf(indexes, question, reading, rates)
  let nothing: Found | undefined
  for (const tried of triesFor(wish)) {
    const found = foundBy(indexes, tried)
    if (found.total > 0) return found
    nothing ??= found
  }
  return nothing ?? foundWith(wish, [])
}

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
  const unused = wish.reading.parts.filter((part) => wish.unused.has(part))
  return { wish, kinds, total, unused, leftOut: [...new Set(unused.map(({ text }) => text))] }
}

/** Words without a meaning that the question may be about, so that nothing is found rather than something else. */
export function unknownWords(wish: Wish): string[] {
  const { reading, kinds, countries, regions, plan } = wish
  const isForLine = kinds.length === 1 && kinds[0] !== 'voucher'
  const isPlace = countries.length + regions.length > 0
  if (namesGoods(wish) || (isPlace && (plan.minDataGb !== undefined || isForLine))) return []
  return [...new Set(partsOf(reading, 'word').map(({ text }) => text))]
}

/** What to look for, one after the other: the whole question first, then with fewer of the conditions. */
function* triesFor(wish: Wish): Generator<Wish> {
  if (unknownWords(wish).length > 0) return
  yield wish
  const last = { ...wish, wantsData: false }
  if (wish.wantsData) yield last
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

/** In gigabytes: any data at all. */
const leastData = 0.001

/** The filters for offers of this kind; undefined if it has none of the brand or the region. */
function filtersFor(index: SearchIndex, kind: Kind, wish: Wish): Filters | undefined {
  const { brands, use, regions, value, plan, price } = wish
  const anyData = wish.wantsData ? leastData : undefined
  if (brands?.[kind].length === 0) return undefined
  const filters: Filters = {
    brandKeys: brands?.[kind],
    every: [
      ...(use !== undefined && kind === 'voucher' ? [{ any: usedFor(use) }] : []),
      ...(value === undefined ? [] : [{ any: worth(value) }]),
    ],
    none: unwantedFor(index, kind, wish),
    ...placesFor(kind, wish),
    ...price,
    // Vouchers have neither data nor days.
    ...(kind === 'voucher' ? {} : { ...plan, minDataGb: plan.minDataGb ?? anyData }),
  }
  return kind === 'esim' ? coveringMost(index, filters, regions) : filters
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
  let { covers } = filters
  for (const region of regions) {
    const covered = coverableOf(index, region, { ...filters, covers })
    if (covered.length < region.length / 2) return undefined
    covers = [...(covers ?? []), ...covered]
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

function isOfUse({ kind, wish: { use } }: Search): boolean {
  return use !== undefined && kind === 'voucher'
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

/** What the words ask for, and the fields that override them. */
type Base = ReturnType<typeof baseOf>

function wishOf(
  indexes: Indexes,
  question: Question,
  reading: Reading,
  rates: RateTable | undefined,
) {
  const base = baseOf(question, reading)
  const { wanted, named } = base
  const isExcluded = (kind: Kind) =>
    partsOf(reading, 'kind').some((part) => part.isExcluded && part.kind === kind)
  const asked = kindsFor(base).filter((kind) => !isExcluded(kind))
  const money = moneyFor(base, indexes, asked, rates)
  const [phone] = wanted('phone')
  return {
    ...base,
    ...money,
    /** The likeliest first. */
    kinds: asked,
    /** The likely operator of the line to be topped up. Its topups come first. */
    operator: question.phoneCountry === undefined ? phone?.operator : question.phoneOperator,
    /** Whether topups must include data, not just airtime. */
    wantsData: asked.includes('topup') && named.includes('esim'),
    /** What is not taken into account. */
    unused: new Set(reading.parts.filter((part) => isUnused(part, base, money, asked))),
  }
}

/** The parts of some types that are not excluded. */
const wantedIn =
  (reading: Reading) =>
  <T extends Said['type']>(...types: readonly T[]) =>
    partsOf(reading, ...types).filter(({ isExcluded }) => !isExcluded)
type Wanted = ReturnType<typeof wantedIn>

function baseOf(question: Question, reading: Reading) {
  const { country, covers = [], phoneCountry } = question
  const wanted = wantedIn(reading)
  const [data] = wanted('data')
  const [days] = wanted('days')
  const [use] = wanted('use')
  const [phone] = wanted('phone')
  const plan: Filters = {
    minDataGb: question.minDataGb ?? data?.least,
    maxDataGb: data?.most,
    minDays: question.minDays ?? days?.least,
    maxDays: days?.most,
  }
  const brands = wanted('brand')
  const own = country === undefined ? wanted('country').map(({ code }) => code) : [country]
  const line = phoneCountry ?? phone?.country
  return {
    question,
    reading,
    wanted,
    /** The kinds that the words name. */
    named: namedKinds(wanted),
    brands:
      brands.length === 0 ? undefined : byKind((kind) => brands.flatMap((one) => one.brands[kind])),
    use: brands.length === 0 ? use?.use : undefined,
    countries: line === undefined ? [...new Set([...own, ...covers])] : [line],
    regions: country === undefined ? wanted('region').map(({ countries }) => countries) : [],
    plan,
  }
}

/** The kinds that the words name. */
function namedKinds(wanted: Wanted): Kind[] {
  if (wanted('iccid').length > 0) return ['esim']
  return [...new Set(wanted('kind').map(({ kind }) => kind))]
}

/** An amount of money limits the price of a plan, but is the value that a card or a line should receive. */
function moneyFor(
  base: Base,
  indexes: Indexes,
  asked: readonly Kind[],
  rates: RateTable | undefined,
) {
  const { wanted, question, countries } = base
  const amounts = wanted('money')
  const isPlan = asked.length === 1 && asked[0] === 'esim'
  const local = localCurrencies(
    indexes,
    amounts.length + wanted('number').length > 0 ? countries : [],
  )
  /** Limits of the price in currencies without a rate. */
  const unconverted: Part[] = []
  const inDollars = (part: (typeof amounts)[number] | undefined, amount: number | undefined) => {
    if (part === undefined || amount === undefined || part.currencies[0] === 'USD') return amount
    const [currency = ''] = likelyCurrencies(part.currencies, local)
    const rate = rates?.perUsd[currency]
    if (rate === undefined) unconverted.push(part)
    return rate === undefined ? undefined : amount / rate
  }
  const least = amounts.find((one) => one.least !== undefined)
  const most = amounts.find((one) => (one.most ?? (isPlan ? one.exact : undefined)) !== undefined)
  const minUsdc = inDollars(least, least?.least)
  return {
    price: { minUsdc, maxUsdc: question.maxUsdc ?? inDollars(most, most?.most ?? most?.exact) },
    value: isPlan ? undefined : valueIn(base, asked, local),
    unconverted,
  }
}

function valueIn(base: Base, asked: readonly Kind[], local: readonly string[]): Value | undefined {
  const amounts = base.wanted('money')
  const exact = amounts.find((one) => one.exact !== undefined)
  if (exact !== undefined) {
    const currencies = likelyCurrencies(exact.currencies, local)
    return { amount: exact.exact, part: exact, currencies }
  }
  const [number, ...more] = base.wanted('number')
  const isClear = amounts.length + more.length === 0
  const isOfGoods = namesGoods(base) || base.named.length > 0
  if (number === undefined || !isClear || !isOfGoods) return undefined
  // Without a currency: dollars for a card, what is used there for a country, and else whatever there is.
  const isCard = asked.length === 1 && asked[0] === 'voucher'
  const usual = isCard ? ['USD'] : undefined
  return { amount: number.amount, part: number, currencies: local.length > 0 ? local : usual }
}

/** The currencies of what is sold for these countries: what their people mean by a word that several share. */
function localCurrencies({ voucher, topup }: Indexes, countries: readonly string[]): string[] {
  if (countries.length === 0) return []
  const used = [voucher, topup].flatMap((index) => index.values('currency', { countries }))
  return [...new Set(used)]
}

/** The currencies that an amount is likely in: those of the named countries first, then the usual one. */
function likelyCurrencies(currencies: readonly string[], local: readonly string[]): string[] {
  const own = currencies.filter((code) => local.includes(code))
  return [...new Set([...own, ...currencies.slice(0, 1)])]
}

/** Whether it names a brand, a use or a line, and not just a kind. */
function namesGoods({ brands, use, reading }: Pick<Base, 'brands' | 'use' | 'reading'>): boolean {
  return (brands ?? use) !== undefined || partsOf(reading, 'phone', 'iccid').length > 0
}

/** The kinds that a question is about, the likeliest first; none if it has no subject. */
function kindsFor(base: Base): readonly Kind[] {
  const { question, wanted } = base
  const { kind, phoneCountry } = question
  if (kind !== undefined) return hasSubject(base) ? [kind] : []
  if (phoneCountry !== undefined || wanted('phone').length > 0) return ['topup']
  return kindsOfGoods(base) ?? kindsOfPlaces(base)
}

function kindsOfGoods(base: Base): readonly Kind[] | undefined {
  const { named, brands, use, plan } = base
  if (brands !== undefined) return kindsOfBrands(named, brands)
  if (named.length > 0) return named.includes('esim') && hasPlan(base) ? ['esim'] : named
  return use !== undefined && plan.minDataGb === undefined ? ['voucher'] : undefined
}

/** If only places are named, mostly plans are wanted. */
function kindsOfPlaces(base: Base): readonly Kind[] {
  const { question, countries, regions } = base
  const isPlan = question.covers !== undefined || regions.length > 0 || countries.length > 1
  if (isPlan || hasPlan(base)) return ['esim']
  if (countries.length > 0) return ['esim', 'topup', 'voucher']
  return hasWords(base) ? kinds : []
}

function hasPlan({ plan }: Base): boolean {
  return Object.values(plan).some((bound) => bound !== undefined)
}

function hasWords({ question: { query, maxUsdc }, wanted }: Base): boolean {
  return query === undefined || maxUsdc !== undefined || wanted('word', 'money').length > 0
}

/** Whether a question says anything at all that offers can be found by; otherwise it finds nothing. */
function hasSubject(base: Base): boolean {
  const { wanted, named, countries } = base
  const said = wanted('brand', 'use', 'country', 'region', 'kind')
  return hasPlan(base) || hasWords(base) || said.length + named.length + countries.length > 0
}

/** The kinds of a brand, narrowed by the kinds that are named. */
function kindsOfBrands(named: readonly Kind[], brands: Brands): readonly Kind[] {
  const all = kinds.filter((kind) => brands[kind].length > 0)
  const both = all.filter((kind) => named.includes(kind))
  return both.length > 0 ? both : all
}

/** Whether a part is overridden by a field, said a second time, or nothing that offers tell. */
function isUnused(
  part: Part,
  base: Base,
  money: ReturnType<typeof moneyFor>,
  asked: readonly Kind[],
): boolean {
  const { use, countries, named, question } = base
  if (part.isExcluded) return false
  switch (part.type) {
    case 'context':
    case 'word':
    case 'device':
      return true
    case 'number':
      return money.value?.part !== part
    case 'money':
      return money.unconverted.includes(part)
    case 'use':
      return part.use !== use || !asked.includes('voucher')
    case 'country':
      return !countries.includes(part.code)
    case 'region':
      return question.country !== undefined
    case 'kind':
      return !named.some((kind) => asked.includes(kind))
    case 'data':
    case 'days':
      // Vouchers have neither data nor days.
      return asked.every((kind) => kind === 'voucher')
    default:
      return false
  }
}
