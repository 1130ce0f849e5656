import { kinds } from '../good.ts'
import type { Kind } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { inDollars, likelyCurrencies, localCurrencies } from './currencies.ts'
import { type Brands, type Indexes, type Reading, readQuestion } from './reading.ts'

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
export interface Value {
  /** Undefined for any amount in these currencies. */
  readonly amount: number | undefined
  /** ISO 4217 codes; undefined for any currency. */
  readonly currencies: readonly string[] | undefined
  /** As it is written. */
  readonly said: string
  /** Whether it is only a number, so that it may mean something else. */
  readonly isBare: boolean
  /** Also met by offers in other currencies whose buyer chooses the value, which is given in dollars. */
  readonly isInDollars?: boolean
}

/** What a question was understood to ask, as conditions that must all be met. */
export interface Asked {
  readonly kinds: readonly Kind[]
  readonly reading: Reading
  readonly countries: readonly string[]
  readonly regions: readonly (readonly string[])[]
  readonly minDataGb: number | undefined
  readonly minDays: number | undefined
  readonly maxDays: number | undefined
  readonly minUsdc: number | undefined
  readonly maxUsdc: number | undefined
  readonly value: Value | undefined
  /** What cannot be taken into account: numbers without a meaning, and limits of the price in currencies without a rate. */
  readonly ignored: readonly string[]
  /** Words that offers must have. */
  readonly words: readonly string[]
  /** The likely operator of the line to be topped up. Its topups come first. */
  readonly operator: string | undefined
  /** Whether topups must include data, not just airtime. */
  readonly wantsData: boolean
}

const unread: Reading = {
  kinds: [],
  brands: undefined,
  countries: [],
  regions: [],
  category: undefined,
  hasPhone: false,
  phoneCountry: undefined,
  phoneOperator: undefined,
  unknown: [],
  untold: [],
  numbers: [],
  length: 0,
}

export function askedIn(indexes: Indexes, question: Question, rates: RateTable | undefined): Asked {
  const { query, country } = question
  const reading = query === undefined ? unread : readQuestion(query, indexes, question)
  const base: Base = {
    reading,
    countries: countriesIn(reading, question),
    regions: country === undefined ? reading.regions : [],
    minDataGb: question.minDataGb ?? reading.minDataGb,
    minDays: question.minDays ?? reading.minDays,
    maxDays: reading.maxDays,
  }
  const asked = kindsFor(base, question)
  return {
    ...base,
    ...moneyFor(base, { indexes, asked, maxUsdc: question.maxUsdc, rates }),
    kinds: asked,
    words: [],
    operator: question.phoneCountry === undefined ? reading.phoneOperator : question.phoneOperator,
    wantsData: asked.includes('topup') && reading.kinds.includes('esim'),
  }
}

function countriesIn(reading: Reading, { country, covers = [], phoneCountry }: Question): string[] {
  const phone = phoneCountry ?? reading.phoneCountry
  if (phone !== undefined) return [phone]
  const own = country === undefined ? reading.countries : [country]
  return [...new Set([...own, ...covers])]
}

interface Means {
  readonly indexes: Indexes
  readonly asked: readonly Kind[]
  readonly maxUsdc: number | undefined
  readonly rates: RateTable | undefined
}

/** An amount of money limits the price of a plan, but is the value that a card or a line should receive. */
function moneyFor(
  { reading, countries }: Base,
  { indexes, asked, maxUsdc, rates }: Means,
): Pick<Asked, 'minUsdc' | 'maxUsdc' | 'ignored' | 'value'> {
  const { budget, atLeast, numbers } = reading
  const saysAmount = [budget, atLeast, reading.value, ...numbers].some((one) => one !== undefined)
  const local = localCurrencies(indexes, saysAmount ? countries : [])
  const isPlan = asked.length === 1 && asked[0] === 'esim'
  const most = budget ?? (isPlan ? reading.value : undefined)
  const limits = maxUsdc === undefined ? [most, atLeast] : [atLeast]
  const unconverted = limits.flatMap((limit) =>
    limit === undefined || inDollars(limit, local, rates) !== undefined ? [] : [limit.said],
  )
  const value = isPlan ? undefined : valueIn(reading, asked, local)
  return {
    minUsdc: inDollars(atLeast, local, rates),
    maxUsdc: maxUsdc ?? inDollars(most, local, rates),
    ignored: [...new Set([...unconverted, ...(value?.isBare ? [] : numbers)])],
    value,
  }
}

function valueIn(
  reading: Reading,
  asked: readonly Kind[],
  local: ReadonlySet<string>,
): Value | undefined {
  const { value, budget, atLeast, numbers } = reading
  if (value !== undefined) {
    const { amount, said } = value
    return { amount, said, isBare: false, currencies: likelyCurrencies(value, local) }
  }
  const [number, ...more] = numbers
  const isClear = (budget ?? atLeast) === undefined && more.length === 0
  const isOfGoods = namesGoods(reading) || reading.kinds.length > 0
  if (number === undefined || !isClear || !isOfGoods) return undefined
  const isCard = asked.length === 1 && asked[0] === 'voucher'
  const usual = isCard ? ['USD'] : undefined
  const currencies = local.size > 0 ? [...local] : usual
  return { amount: Number(number), said: number, isBare: true, currencies }
}

/** Whether it names a brand, a use or a line, and not just a kind. */
export function namesGoods({ brands, category, hasPhone }: Reading): boolean {
  return (brands ?? category) !== undefined || hasPhone
}

type Base = Pick<Asked, 'reading' | 'countries' | 'regions' | 'minDataGb' | 'minDays' | 'maxDays'>

/** The kinds that a question is about, the likeliest first; none if it has no subject. */
function kindsFor(base: Base, question: Question): readonly Kind[] {
  const { reading } = base
  const { kind, query, phoneCountry } = question
  if (kind !== undefined) return query === undefined || hasSubject(base, question) ? [kind] : []
  if (phoneCountry !== undefined || reading.hasPhone) return ['topup']
  if (reading.brands !== undefined) return kindsOfBrand(reading, reading.brands)
  return kindsOfWords(base) ?? kindsOfPlaces(base, question) ?? kindsOfRest(base, question)
}

function kindsOfWords(base: Base): readonly Kind[] | undefined {
  const { kinds: named, category } = base.reading
  if (named.length > 0) return named.includes('esim') && hasPlan(base) ? ['esim'] : named
  return category !== undefined && base.minDataGb === undefined ? ['voucher'] : undefined
}

/** The kinds of a brand, narrowed by the kinds that are named. If vouchers are, an operator's topups do not count. */
function kindsOfBrand({ kinds: named }: Reading, brands: Brands): readonly Kind[] {
  const all = kinds.filter((kind) => brands[kind].length > 0)
  const both = all.filter((kind) => named.includes(kind))
  if (both.length > 0) return both
  return named.includes('voucher') ? ['voucher'] : all
}

/** The kinds that are probably wanted if only places are named: mostly plans. */
function kindsOfPlaces(base: Base, { covers }: Question): readonly Kind[] | undefined {
  const { countries, regions } = base
  const isPlan = covers !== undefined || regions.length > 0 || countries.length > 1
  if (isPlan || hasPlan(base)) return ['esim']
  return countries.length > 0 ? ['esim', 'topup', 'voucher'] : undefined
}

function kindsOfRest({ reading }: Base, question: Question): readonly Kind[] {
  const isSome =
    question.query === undefined || reading.unknown.length > 0 || hasMoney(reading, question)
  return isSome ? kinds : []
}

function hasPlan({ minDataGb, minDays, maxDays }: Base): boolean {
  return (minDataGb ?? minDays ?? maxDays) !== undefined
}

function hasMoney({ budget, atLeast, value }: Reading, { maxUsdc }: Question): boolean {
  return (maxUsdc ?? budget ?? atLeast ?? value) !== undefined
}

/** Whether a question says anything at all that offers can be found by; otherwise it finds nothing. */
function hasSubject(base: Base, question: Question): boolean {
  const { brands, category, countries, regions, kinds: named, unknown } = base.reading
  const lists = [countries, regions, named, unknown, base.countries]
  return (
    hasPlan(base) ||
    hasMoney(base.reading, question) ||
    (brands ?? category) !== undefined ||
    lists.some((list) => list.length > 0)
  )
}
