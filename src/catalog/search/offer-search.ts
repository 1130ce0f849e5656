import { foldedWords } from '../../lib/text.ts'
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
  values(paramSource: ParamSource, index: SearchIndex): ReadSearch
}

export interface ReadSearch {
  readonly page: Page
  readonly filters: Filters
  hint(): Hint
}

interface Definition<P extends Params> {
  /** In the order in which a caller would rather change them. */
  readonly query: P
  readonly maxLimit: number
  readonly hasFacets?: true
  readonly plural: string
  filtersOf(params: ValuesOf<P>): Filters
  /** Checks what only the index can tell. @throws Refusal for values that cannot be combined */
  checked?(params: ValuesOf<P>, index: SearchIndex): ValuesOf<P>
}

/** Hides the types of a search's parameters, so that the code that answers need not know them. */
export function defineSearch<const P extends Params>(search: Definition<P>): OfferSearch {
  const query = { ...search.query, ...paging(search.maxLimit) }
  const filtersOf = (params: Values) => search.filtersOf(params as ValuesOf<P>)
  return {
    query,
    hasFacets: search.hasFacets ?? false,
    values(paramSource, index) {
      const { limit, offset, ...values } = readParams<Params>(paramSource, query)
      const params: Values = search.checked?.(values as ValuesOf<P>, index) ?? values
      return {
        page: pageOf({ limit, offset } as Partial<Page>),
        filters: filtersOf(params),
        hint: () => hintFor({ ...search, params, index, filtersOf }),
      }
    },
  }
}

export interface Hint {
  readonly parameter?: string
  readonly nearest?: string
  readonly message: string
}

type Values = Readonly<Record<string, unknown>>

interface EmptySearch {
  readonly query: Params
  readonly plural: string
  readonly params: Values
  readonly index: SearchIndex
  filtersOf(params: Values): Filters
}

/** Explains an empty result. Every value that it proposes was searched for and finds something. */
function hintFor(empty: EmptySearch): Hint {
  const { query, plural, params, index, filtersOf } = empty
  const parameters = Object.keys(query).filter((name) => params[name] !== undefined)
  if (parameters.length === 0) return { message: `The store has no ${plural} at the moment.` }
  const finds = (values: Values) => index.count(filtersOf(values)) > 0
  const others = parameters.length > 1 ? ' together with the other parameters' : ''
  const noneHave = (name: string) => `No ${plural} have ${name} "${params[name]}"`
  for (const parameter of parameters) {
    const works = workingFor(empty, parameter, parameters.length === 1)
    const [nearest] = works
    const message = `${noneHave(parameter)}${others}.`
    const instead = `These find some: ${listed(works)}. Check that one of them is of use.`
    if (nearest !== undefined) return { parameter, nearest, message: `${message} ${instead}` }
    if (finds({ ...params, [parameter]: undefined }))
      return { parameter, message: `${message} Leave it out to find some.` }
  }
  const wrong = parameters.find((name) => !finds({ [name]: params[name] }))
  if (wrong !== undefined) return { parameter: wrong, message: `${noneHave(wrong)}.` }
  const names = parameters.join(', ')
  return { message: `No ${plural} meet ${names} together, and leaving one out is not enough.` }
}

const maxTries = 40

/** Texts that a caller could send instead, nearest first. They come from offers that exist. */
function workingFor(empty: EmptySearch, name: string, isAlone: boolean): readonly string[] {
  const { query, params, index, filtersOf } = empty
  const works = (text: string) => {
    const value = query[name]?.parse(name, text)
    return index.count(filtersOf({ ...params, [name]: value })) > 0
  }
  return nearTo(empty, name, isAlone, works).slice(0, maxTries).filter(works)
}

function nearTo(
  { query, params, index, filtersOf }: EmptySearch,
  name: string,
  isAlone: boolean,
  works: (text: string) => boolean,
): readonly string[] {
  const { near, schema } = query[name] ?? {}
  const value = String(params[name])
  const left = filtersOf({ ...params, [name]: undefined })
  const most = (field: FieldName) => mostOffered(index, field, left)
  const far = (days: string) => Math.abs(Number(days) - Number(value))
  switch (near) {
    case 'brand':
      return nearestBrands(index, value)
    case 'text':
      return nearestTexts(index, value, works)
    case 'days':
      return most('duration').sort((one, other) => far(one) - far(other))
    case 'countries':
      return [coverableOf(index, value.split(','), left).join(',')].filter(Boolean)
    default:
  }
  // Without other parameters no country or region is nearer than another.
  if (isAlone) return []
  if (near === 'category') return most('category')
  if (near === undefined) return (schema?.['enum'] ?? []) as readonly string[]
  return nearFirst(index, [value], [...new Set([...most('country'), ...most('covers')])])
}

/** Brands whose name or alias is a typo or two away from the given text; never a test brand. */
export function nearestBrands(index: SearchIndex, text: string): string[] {
  const lexicon = brandLexicon(index)
  const near = brandsLike(lexicon, foldedWords(text).join(''))
  const brands = near.filter((brand) => !lexicon.tests.includes(brand))
  return [...new Set(brands.map(lexicon.nameOf))]
}

/** Each costs a search. */
const maxWords = 16

/**
 * A brand that is spelt almost like the text, or the words of the text that find something together, brands before
 * others. Without a whole name among them, they must be at least half of the text.
 */
function nearestTexts(
  index: SearchIndex,
  given: string,
  finds: (text: string) => boolean,
): string[] {
  const brands = nearestBrands(index, given)
  if (brands.some(finds)) return brands
  const words = partsOf(given).slice(0, maxWords)
  const { whole, parts } = brandLexicon(index)
  const weightOf = (word: string) => (whole.has(word) ? 0 : parts.has(word) ? 1 : 2)
  let usefulWords: string[] = []
  for (const word of words.toSorted((one, other) => weightOf(one) - weightOf(other))) {
    const more = words.filter((one) => one === word || usefulWords.includes(one))
    if (finds(more.join(' '))) usefulWords = more
  }
  const isNear =
    usefulWords.some((word) => whole.has(word)) || usefulWords.length * 2 >= words.length
  return isNear ? [usefulWords.join(' ')] : []
}

const longestName = 4

/** A country's name of several words is one of them. */
function partsOf(text: string): string[] {
  const words = foldedWords(text)
  const parts: string[] = []
  for (let at = 0; at < words.length; ) {
    let length = Math.min(longestName, words.length - at)
    while (length > 1 && !isCountryName(words.slice(at, at + length).join(' '))) length -= 1
    parts.push(words.slice(at, at + length).join(' '))
    at += length
  }
  return parts
}

export function nearFirst(
  index: SearchIndex,
  countries: readonly string[],
  codes: readonly string[],
): string[] {
  const regionsOf = (code: string) => index.values('region', { country: code })
  const own = new Set(countries.flatMap(regionsOf))
  const isNear = (code: string) => regionsOf(code).some((region) => own.has(region))
  const { near = [], far = [] } = Object.groupBy(codes, (code) => (isNear(code) ? 'near' : 'far'))
  return [...near, ...far]
}

const maxListed = 12

export function listed(values: readonly string[]): string {
  const more = values.length > maxListed ? ', …' : ''
  return `${values.slice(0, maxListed).join(', ')}${more}`
}

export function mostOffered(index: SearchIndex, field: FieldName, filters: Filters): string[] {
  return index.counts(field, filters).map(([value]) => value)
}

/** Taken greedily in their order. */
export function coverableOf(
  index: SearchIndex,
  codes: readonly string[],
  filters: Filters,
): string[] {
  const covers = [...(filters.covers ?? [])]
  return codes.filter((code) => {
    const isCovered = index.count({ ...filters, covers: [...covers, code] }) > 0
    if (isCovered) covers.push(code)
    return isCovered
  })
}
