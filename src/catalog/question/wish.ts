import { byKind, kinds } from '../good.ts'
import type { Kind } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import type { Filters } from '../search/filters.ts'
import {
  type Brands,
  type Indexes,
  type Part,
  partsOf,
  type Reading,
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
export interface Value {
  /** Undefined for any amount in these currencies. */
  readonly amount: number | undefined
  /** ISO 4217 codes; undefined for any currency. */
  readonly currencies: readonly string[] | undefined
  readonly part: Part
  /** Also met by offers in other currencies whose buyer chooses the value, which is given in dollars. */
  readonly isInDollars?: boolean
}

/** What a question asks for, as conditions that must all be met. */
export interface Wish {
  readonly reading: Reading
  /** The likeliest first. */
  readonly kinds: readonly Kind[]
  readonly brands: Brands | undefined
  readonly use: Use | undefined
  readonly countries: readonly string[]
  readonly regions: readonly (readonly string[])[]
  /** Data and days. */
  readonly plan: Filters
  /** The price. */
  readonly price: Filters
  readonly value: Value | undefined
  /** Words that offers must have. */
  readonly words: readonly string[]
  /** The likely operator of the line to be topped up. Its topups come first. */
  readonly operator: string | undefined
  /** Whether topups must include data, not just airtime. */
  readonly wantsData: boolean
  /** What is not taken into account. */
  readonly unused: ReadonlySet<Part>
}

type PartOf<T extends Said['type']> = Part<Extract<Said, { type: T }>>

/** What the words ask for, and the fields that override them. */
type Base = ReturnType<typeof baseOf>

export function wishOf(
  indexes: Indexes,
  question: Question,
  reading: Reading,
  rates: RateTable | undefined,
): Wish {
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
    kinds: asked,
    words: [],
    operator: question.phoneCountry === undefined ? phone?.operator : question.phoneOperator,
    wantsData: asked.includes('topup') && named.includes('esim'),
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
    use: use?.use,
    countries: line === undefined ? [...new Set([...own, ...covers])] : [line],
    regions: country === undefined ? wanted('region').map(({ countries }) => countries) : [],
    plan,
  }
}

/** The kinds that the words name. A phone stands for its line if they name nothing else. */
function namedKinds(wanted: Wanted): Kind[] {
  if (wanted('iccid').length > 0) return ['esim']
  const named = [...new Set(wanted('kind').map(({ kind }) => kind))]
  const isLine = wanted('device').some(({ isPhone }) => isPhone)
  return isLine && named.length + wanted('brand', 'use').length === 0 ? ['topup'] : named
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
  const inDollars = (part: PartOf<'money'> | undefined, amount: number | undefined) => {
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
export function namesGoods({
  brands,
  use,
  reading,
}: Pick<Wish, 'brands' | 'use' | 'reading'>): boolean {
  const isLine = (part: Part) => part.type !== 'device' || part.isPhone
  return (brands ?? use) !== undefined || partsOf(reading, 'phone', 'iccid', 'device').some(isLine)
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

/** The kinds of a brand, narrowed by the kinds that are named. If vouchers are, an operator's topups do not count. */
function kindsOfBrands(named: readonly Kind[], brands: Brands): readonly Kind[] {
  const all = kinds.filter((kind) => brands[kind].length > 0)
  const both = all.filter((kind) => named.includes(kind))
  if (both.length > 0) return both
  return named.includes('voucher') ? ['voucher'] : all
}

/** Whether a part is overridden by a field, said a second time, or nothing that offers tell. */
function isUnused(
  part: Part,
  base: Base,
  money: ReturnType<typeof moneyFor>,
  asked: readonly Kind[],
): boolean {
  const { brands, use, countries, named, question } = base
  if (part.isExcluded) return false
  switch (part.type) {
    case 'context':
    case 'word':
      return true
    case 'number':
      return money.value?.part !== part
    case 'money':
      return money.unconverted.includes(part)
    case 'use':
      return brands !== undefined || part.use !== use || !asked.includes('voucher')
    case 'country':
      return !countries.includes(part.code)
    case 'region':
      return question.country !== undefined
    case 'kind':
      return !named.some((kind) => asked.includes(kind))
    case 'device':
      return !(part.isPhone && named.includes('topup'))
    case 'data':
    case 'days':
      // Vouchers have neither data nor days.
      return asked.every((kind) => kind === 'voucher')
    default:
      return false
  }
}
