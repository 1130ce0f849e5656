import { wordsOf } from '../../lib/text.ts'
import { isCountryName } from '../countries.ts'
import { brandLexicon, brandsLike } from './brand-lexicon.ts'
import type { Filters } from './filters.ts'
import {
  type ParamSource,
  type Params,
  pageOf,
  paging,
  readParams,
  type ValuesOf,
} from './params.ts'
import type { Page, SearchIndex } from './search-index.ts'
import type { FieldName } from './stock.ts'

export interface OfferSearch {
  readonly query: Params
  readonly hasFacets: boolean
  /** @throws Refusal 400 that names the one parameter at fault and what it may be */
  read(given: ParamSource, index: SearchIndex): ReadSearch
}

export interface ReadSearch {
  readonly page: Page
  readonly filters: Filters
  hint(): Hint
}

interface Definition<P extends Params> {
  readonly query: P
  readonly maxLimit: number
  readonly hasFacets?: true
  readonly plural: string
  filtersOf(params: ValuesOf<P>): Filters
  /** Checks what only the index can tell. @throws Refusal for values that cannot be combined */
  checked?(params: ValuesOf<P>, index: SearchIndex): ValuesOf<P>
  /** In the order in which a caller would rather change the parameters. */
  alternativesIn(index: SearchIndex): Alternatives<ValuesOf<P>>
}

/** Hides the types of a search's parameters, so that the code that answers need not know them. */
export function defineSearch<const P extends Params>(search: Definition<P>): OfferSearch {
  const query = { ...search.query, ...paging(search.maxLimit) }
  const { plural } = search
  return {
    query,
    hasFacets: search.hasFacets ?? false,
    read(given, index) {
      const { limit, offset, ...read } = readParams<Params>(given, query)
      const page = pageOf({ limit, offset } as Partial<Page>)
      const params = search.checked?.(read as ValuesOf<P>, index) ?? (read as ValuesOf<P>)
      const { filtersOf } = search
      const alternatives = search.alternativesIn(index)
      return {
        page,
        filters: filtersOf(params),
        hint: () => hintFor({ params, index, filtersOf, alternatives, noun: plural }),
      }
    },
  }
}

export interface Hint {
  readonly parameter?: string
  /** With the other parameters as they are. */
  readonly nearest?: string
  readonly message: string
}

export interface Instead<Value> {
  /** Nearest first. */
  readonly values: readonly Value[]
  /** By default it names only the nearest. */
  readonly say?: (works: readonly Value[]) => string
}

type Alternatives<Params> = {
  readonly [Name in keyof Params]?: (
    given: NonNullable<Params[Name]>,
    left: Filters,
    finds: (value: NonNullable<Params[Name]>) => boolean,
  ) => Instead<NonNullable<Params[Name]>> | undefined
}

interface EmptySearch<Params extends object> {
  readonly params: Params
  readonly index: Pick<SearchIndex, 'count'>
  readonly filtersOf: (params: Params) => Filters
  readonly alternatives: Alternatives<Params>
  readonly noun: string
}

const maxTries = 20

/** Explains an empty result. Every value that it proposes was searched for and finds something. */
function hintFor<Params extends object>(empty: EmptySearch<Params>): Hint {
  const given = givenNames(empty)
  if (given.length === 0) return { message: `The store has no ${empty.noun} at the moment.` }
  for (const name of given) {
    const instead = insteadOf(empty, name)
    // A change of this one parameter is enough to find something.
    if (instead !== undefined || finds(empty, without(empty.params, name)))
      return hintForOne(empty, name, instead)
  }
  return hintForSeveral(empty, given)
}

function hintForOne<Params extends object>(
  empty: EmptySearch<Params>,
  name: keyof Params,
  instead: Proposal | undefined,
): Hint {
  const parameter = String(name)
  const asked = `${parameter} "${textOf(empty.params[name])}"`
  const others = givenNames(empty).length > 1 ? ' together with the other parameters' : ''
  const message = `No ${empty.noun} have ${asked}${others}.`
  if (instead === undefined) return { parameter, message: `${message} Leave it out to find some.` }
  return { parameter, nearest: instead.nearest, message: `${message} ${instead.sentence}` }
}

function hintForSeveral<Params extends object>(
  empty: EmptySearch<Params>,
  given: readonly (keyof Params)[],
): Hint {
  const findsAlone = (name: keyof Params) => finds(empty, { [name]: empty.params[name] } as Params)
  const wrong = given.filter((name) => !findsAlone(name)).map(String)
  const names = (wrong.length > 0 ? wrong : given.map(String)).join(', ')
  const message =
    wrong.length > 0
      ? `No ${empty.noun} have what was asked for in ${names}, each by itself.`
      : `No ${empty.noun} meet ${names} together, and leaving one out is not enough.`
  return wrong[0] === undefined ? { message } : { parameter: wrong[0], message }
}

interface Proposal {
  readonly nearest: string
  readonly sentence: string
}

function insteadOf<Params extends object>(
  empty: EmptySearch<Params>,
  name: keyof Params,
): Proposal | undefined {
  type Value = NonNullable<Params[typeof name]>
  const { params, alternatives } = empty
  const works = (value: Value) => finds(empty, { ...params, [name]: value })
  const left = empty.filtersOf(without(params, name))
  const instead = alternatives[name]?.(params[name] as Value, left, works)
  const working = instead?.values.slice(0, maxTries).filter(works) ?? []
  const [first] = working
  if (first === undefined) return undefined
  const nearest = textOf(first)
  const sentence = instead?.say?.(working) ?? `The nearest that finds some is "${nearest}".`
  return { nearest, sentence }
}

function finds<Params extends object>(
  { index, filtersOf }: EmptySearch<Params>,
  params: Params,
): boolean {
  return index.count(filtersOf(params)) > 0
}

function givenNames<Params extends object>({
  params,
  alternatives,
}: EmptySearch<Params>): (keyof Params)[] {
  const names = Object.keys(alternatives) as (keyof Params)[]
  return names.filter((name) => params[name] !== undefined)
}

function without<Params extends object>(params: Params, name: keyof Params): Params {
  const { [name]: _, ...others } = params
  return others as Params
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}

/** Every value comes from offers that exist, because a hint must never invent one. */

/** Brands whose name or alias is a typo or two away from the given text; never a test brand. */
export function nearestBrands(index: SearchIndex, given: string): Instead<string> {
  const lexicon = brandLexicon(index)
  const near = brandsLike(lexicon, wordsOf(given).join(''))
  const brands = near.filter((brand) => !lexicon.tests.includes(brand))
  return { values: [...new Set(brands.map(lexicon.nameOf))] }
}

/** Each costs a search. */
const maxWords = 16

/**
 * A brand that is spelt almost like the text, or the words of the text that find something together, brands before
 * others. Without a whole name among them, they must be at least half of the text.
 */
export function nearestTexts(
  index: SearchIndex,
  given: string,
  finds: (text: string) => boolean,
): Instead<string> {
  const brands = nearestBrands(index, given)
  if (brands.values.some(finds)) return brands
  const all = partsOf(given)
  const words = all.slice(0, maxWords)
  const { whole, parts } = brandLexicon(index)
  const weightOf = (word: string) => (whole.has(word) ? 0 : parts.has(word) ? 1 : 2)
  const kept = new Set<string>()
  const text = () => words.filter((word) => kept.has(word)).join(' ')
  for (const word of words.toSorted((one, other) => weightOf(one) - weightOf(other))) {
    kept.add(word)
    if (!finds(text())) kept.delete(word)
  }
  const isNear = [...kept].some((word) => whole.has(word)) || kept.size * 2 >= words.length
  const without = all.filter((word) => !kept.has(word)).map((word) => `"${word}"`)
  return {
    values: kept.size > 0 && isNear ? [text()] : [],
    say: ([found]) => `"${found}" finds some, without ${without.join(', ')}.`,
  }
}

const longestName = 4

/** A country's name of several words is one of them. */
function partsOf(text: string): string[] {
  const words = wordsOf(text)
  const parts: string[] = []
  for (let at = 0; at < words.length; ) {
    let length = Math.min(longestName, words.length - at)
    while (length > 1 && !isCountryName(words.slice(at, at + length).join(' '))) length -= 1
    parts.push(words.slice(at, at + length).join(' '))
    at += length
  }
  return parts
}

/** Undefined if nothing else was asked for, because then no country is nearer than another. */
export function countriesWith(
  index: SearchIndex,
  given: string,
  left: Filters,
): Instead<string> | undefined {
  if (index.count(left) === index.size) return undefined
  const own = nearFirst(index, [given], mostOffered(index, 'country', left))
  return {
    values: [...new Set([...own, ...mostOffered(index, 'covers', left)])],
    say: (works) => `Some are for ${listed(works)}. Check that one of these is of use.`,
  }
}

export function nearFirst(
  index: SearchIndex,
  given: readonly string[],
  codes: readonly string[],
): string[] {
  const regionsOf = (code: string) => index.values('region', { country: code })
  const own = new Set(given.flatMap(regionsOf))
  const isNear = (code: string) => regionsOf(code).some((region) => own.has(region))
  const { near = [], far = [] } = Object.groupBy(codes, (code) => (isNear(code) ? 'near' : 'far'))
  return [...near, ...far]
}

/** Likewise undefined if nothing else was asked for. */
export function valuesWith<Value extends string>(
  index: SearchIndex,
  values: readonly Value[],
  left: Filters,
): Instead<Value> | undefined {
  if (index.count(left) === index.size) return undefined
  return { values, say: (works) => `Some have ${listed(works)}.` }
}

const maxListed = 12

function listed(values: readonly string[]): string {
  const more = values.length > maxListed ? ', …' : ''
  return `${values.slice(0, maxListed).join(', ')}${more}`
}

export function mostOffered(index: SearchIndex, field: FieldName, filters: Filters): string[] {
  return index.counts(field, filters).map(([value]) => value)
}

export function nearestDurations(
  index: SearchIndex,
  given: number,
  filters: Filters,
): Instead<number> {
  const days = index.values('duration', filters).map(Number)
  const far = (one: number) => Math.abs(one - given)
  return { values: days.sort((one, other) => far(one) - far(other) || one - other) }
}

/** Taken greedily in their order. */
export function coverableOf(
  index: SearchIndex,
  given: readonly string[],
  filters: Filters,
): string[] {
  const covers = [...(filters.covers ?? [])]
  return given.filter((code) => {
    const isCovered = index.count({ ...filters, covers: [...covers, code] }) > 0
    if (isCovered) covers.push(code)
    return isCovered
  })
}

export function highestFaceUsd(index: SearchIndex, filters: Filters): Instead<number> {
  const most = index.boundsUsd(filters)?.most
  return { values: most === undefined ? [] : [Math.floor(most * 100 + 1e-6) / 100] }
}

export function lowestFaceUsd(index: SearchIndex, filters: Filters): Instead<number> {
  const least = index.boundsUsd(filters)?.least
  return { values: least === undefined ? [] : [Math.ceil(least * 100 - 1e-6) / 100] }
}
