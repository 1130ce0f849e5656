import { foldedWords } from '../../lib/text.ts'
import { countryName } from '../countries.ts'
import { goods } from '../kinds.ts'
import { byKind, type Kind, kinds, type Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import type { Filters } from '../search/filters.ts'
import { coverableOf, type Hint, listed, mostOffered, nearFirst } from '../search/offer-search.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { phraseOf } from '../search/words.ts'
import {
  type Indexes,
  type Part,
  type PartMeaning,
  partsOf,
  type Reading,
  readQuestion,
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

interface KindMatches {
  readonly kind: Kind
  readonly filters: Filters
  readonly total: number
  /** The first of them that meet further filters: the likeliest first, then by price, lowest first. */
  readonly first: (most: number, further?: Filters) => readonly Offer[]
}

export interface Matches {
  readonly wish: Wish
  readonly kinds: readonly KindMatches[]
  readonly total: number
  readonly unused: readonly Part[]
  readonly leftOut: readonly string[]
}

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
  return [{ kind, filters, total, first }]
}

function matchesWith(wish: Wish, kindMatches: readonly KindMatches[]): Matches {
  const total = kindMatches.reduce((sum, one) => sum + one.total, 0)
  const unused = wish.reading.parts.filter((part) => !part.isExcluded && !wish.used.has(part))
  const leftOut = [...new Set(unused.map(({ text }) => text))]
  return { wish, kinds: kindMatches, total, unused, leftOut }
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
  const { country, covers = [], phoneCountry } = question
  const includedParts = <T extends PartMeaning['type']>(...types: readonly T[]) =>
    partsOf(reading, ...types).filter(({ isExcluded }) => !isExcluded)
  const bound = (type: 'data' | 'days', name: 'least' | 'most') =>
    includedParts(type).find((part) => part[name] !== undefined)?.[name]
  const named: Kind[] =
    includedParts('iccid').length > 0 ? ['esim'] : includedParts('kind').map(({ kind }) => kind)
  const brands = includedParts('brand')
  const [use] = brands.length === 0 ? includedParts('use') : []
  const [phone] = includedParts('phone')
  const line = phoneCountry ?? phone?.country
  const own = country === undefined ? includedParts('country').map(({ code }) => code) : [country]
  return {
    ...context,
    wanted: includedParts,
    named: [...new Set(named)],
    brands:
      brands.length === 0 ? undefined : byKind((kind) => brands.flatMap((one) => one.brands[kind])),
    use: use?.use,
    countries: line === undefined ? [...new Set([...own, ...covers])] : [line],
    regions: country === undefined ? includedParts('region').map(({ countries }) => countries) : [],
    /** The likely operator of the line to be topped up. Its topups come first. */
    operator: phoneCountry === undefined ? phone?.operator : question.phoneOperator,
    plan: {
      minDataGb: question.minDataGb ?? bound('data', 'least'),
      maxDataGb: bound('data', 'most'),
      minDays: question.minDays ?? bound('days', 'least'),
      maxDays: bound('days', 'most'),
    },
  }
}

function namesGoods({ brands, use, wanted: includedParts }: Subject): boolean {
  return (brands ?? use) !== undefined || includedParts('phone', 'iccid').length > 0
}

/** The kinds that a question is about, the likeliest first, by the first rule that applies; none if it has no subject. */
function kindsFor(subject: Subject): readonly Kind[] {
  const { question, wanted: includedParts, named, brands, use, plan, countries, regions } = subject
  const { query, kind, covers, phoneCountry, maxUsdc } = question
  const isPlan = Object.values(plan).some((bound) => bound !== undefined)
  const sold = kinds.filter((one) => brands?.[one].length)
  const both = sold.filter((one) => named.includes(one))
  const isAny =
    query === undefined || maxUsdc !== undefined || includedParts('word', 'money').length > 0
  const rules: readonly (readonly [boolean, readonly Kind[]])[] = [
    [phoneCountry !== undefined || includedParts('phone').length > 0, ['topup']],
    [sold.length > 0, both.length > 0 ? both : sold],
    [named.length > 0, named],
    [use !== undefined && plan.minDataGb === undefined, ['voucher']],
    // If only places are named, mostly plans are wanted.
    [isPlan || covers !== undefined || regions.length > 0 || countries.length > 1, ['esim']],
    [countries.length > 0, ['esim', ...kinds.filter((one) => one !== 'esim')]],
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

type Wish = ReturnType<typeof wishOf>

function wishOf(question: QuestionContext) {
  const subject = subjectOf(question)
  const { wanted: includedParts, named, use, countries } = subject
  const likelyKinds = kindsFor(subject)
  const local = localCurrencies(subject)
  const isPlan = likelyKinds.length === 1 && likelyKinds[0] === 'esim'
  const value = isPlan ? undefined : valueIn(subject, likelyKinds, local)
  const { limits, price } = priceFor(subject, isPlan, local)
  const used = new Set<Part | undefined>([
    ...includedParts('brand', 'phone', 'iccid'),
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
function unknownWords(wish: Wish): string[] {
  const { reading, kinds, countries, regions } = wish
  const isForLine = kinds.length === 1 && kinds[0] !== 'voucher'
  if (namesGoods(wish) || (isForLine && countries.length + regions.length > 0)) return []
  return [...new Set(partsOf(reading, 'word').map(({ text }) => text))]
}

/** In gigabytes: any data at all. */
const leastData = 0.001

/** What to look for, one after the other: the whole question first, then with fewer of the conditions. */
function triesFor(wish: Wish): Wish[] {
  const { kinds: likelyKinds, named, plan, value } = wish
  if (unknownWords(wish).length > 0) return []
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

function filtersFor(kind: Kind, wish: Wish): Filters | undefined {
  const { brands, use, countries, regions, worth, plan, price } = wish
  if (brands?.[kind].length === 0) return undefined
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

/** Among so many offers of a use, one of each brand comes first. */
const maxCompared = 200

/** The first offers: of each rank by price, and of a use or of several brands one of each before all others. */
function firstOf(kind: Kind, wish: Wish, filters: Filters, most: number): readonly Offer[] {
  const find = (more: Filters, limit: number) =>
    wish.indexes[kind].search({ ...filters, ...more }, { offset: 0, limit }, 'price').offers
  const isOfUse = wish.use !== undefined && kind === 'voucher'
  const limit = isOfUse ? Math.max(most, maxCompared) : most
  const likely = likeliest(kind, wish)
  const { every = [], none = [] } = filters
  const ranks = likely
    ? [find({ every: [...every, likely] }, limit), find({ none: [...none, likely] }, limit)]
    : [find({}, limit)]
  // Always of equally many, so that pages neither repeat nor skip any.
  const compared = isOfUse ? ranks.flatMap((offers) => offers.slice(0, maxCompared)) : []
  const brands = new Set<string>()
  const ofUse = compared.filter(({ brand }) => brands.size < brands.add(brand).size)
  const named = wish.wanted('brand').length > 1 ? (wish.brands?.[kind] ?? []) : []
  const ofBrands = named.flatMap((brand) => find({ brandKeys: [brand] }, 1))
  return [...new Set([...ofUse, ...ofBrands, ...ranks.flat()])].slice(0, most)
}

function likeliest(kind: Kind, wish: Wish): Filters | undefined {
  const { operator, brands, worth, use } = wish
  if (kind === 'topup' && operator !== undefined && brands === undefined) {
    // A brand of "Orange Mali" may be called Orange in every country.
    const { whole } = brandLexicon(wish.indexes[kind])
    const [name, first = ''] = [phraseOf(operator), ...foldedWords(operator)]
    const brandKeys = whole.get(name) ?? whole.get(first)
    if (brandKeys !== undefined) return { brandKeys }
  }
  if (worth !== undefined) return { amount: 'fixed' }
  return kind === 'voucher' && use && use.texts.length > 0 ? { any: textsOf(use) } : undefined
}

/** Explains why a question finds nothing. The question finds something with the value that the hint proposes. */
export function questionHint({ wish, unused }: Matches): Hint {
  const words = unknownWords(wish)
  const [kind, ...others] = wish.kinds
  const noun = others.length === 0 && kind !== undefined ? goods[kind].plural : 'offers'
  const hint = budgetHint(wish, noun) ?? brandHint(wish, noun)
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

function lessHint(wish: Wish, unused: readonly Part[], message: string): Hint {
  const { question, reading } = wish
  const names = ['minDataGb', 'minDays', 'covers', 'country', 'kind'] as const
  const parameter = names.find(
    (name) => question[name] !== undefined && withChange(wish, { [name]: undefined }).total > 0,
  )
  if (parameter !== undefined) {
    return { parameter, message: `${message} Some do without ${parameter}.` }
  }
  const finds = (part: Part) => {
    const parts = reading.parts.filter((one) => one !== part)
    return withChange(wish, {}, { ...reading, parts }).total > 0
  }
  const part = reading.parts.filter((one) => !unused.includes(one)).find(finds)
  return { message: part ? `${message} Some do without ${quoted(part.text)}.` : message }
}
