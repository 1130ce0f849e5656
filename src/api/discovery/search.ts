import * as z from 'zod'
import { names } from '../../catalog/kinds/kind.ts'
import { goods } from '../../catalog/kinds.ts'
import { coarseRegions, regions, topupSubTypes, voucherSubTypes } from '../../catalog/lists.ts'
import { byKind, type Kind, kinds, type Offer } from '../../catalog/offer.ts'
import { phoneMeantBy } from '../../catalog/phone.ts'
import { lowestCharge } from '../../catalog/pricing.ts'
import { findFor, type Matches, type Question } from '../../catalog/question/find.ts'
import { questionHint } from '../../catalog/question/hints.ts'
import { readPhonePlace } from '../../catalog/question/phone-place.ts'
import { vocabulary } from '../../catalog/question/vocabulary.ts'
import type { ReadSearch } from '../../catalog/search/offer-search.ts'
import {
  amount,
  countries,
  country,
  described,
  dollars,
  invalidParameter,
  oneOf,
  type Param,
  pageOf,
  paging,
  question,
  readParams,
  searchName,
  text,
  wholeNumber,
} from '../../catalog/search/params.ts'
import type { Page, SearchIndex } from '../../catalog/search/search-index.ts'
import { coveredBy } from '../../catalog/search/stock.ts'
import { foldedWords } from '../../lib/text.ts'
import { CatalogOffer, catalogOffer, DiscoveryOffer, discoveryOffer } from '../offers.ts'
import {
  answers,
  discoveryPath,
  inDiscovery,
  type Published,
  type ReadDeps,
  type Reading,
  searchPath,
  titleOf,
} from '../operation.ts'

export const count = z.int().min(0)

export const page = {
  total: count.describe('How many match'),
  limit: count,
  offset: count,
}

const Hint = z
  .object({
    message: z.string(),
    parameter: z.string().optional().describe('The filter that emptied the result'),
    nearest: z.string().optional().describe('A value of it that finds something'),
  })
  .meta({ id: 'Hint', description: 'Why a search found nothing, and what would.' })

export function pageOfOffers(id: string, item: z.ZodType, more: z.ZodRawShape = {}) {
  return z.object({ ...page, items: z.array(item), hint: Hint.optional(), ...more }).meta({ id })
}

export function pageAnswer(
  index: SearchIndex,
  { page, filters, hint }: ReadSearch,
  view: (offer: Offer) => Published,
): Published {
  const { total, offers } = index.search(filters, page)
  return { total, ...page, items: offers.map(view), ...(total === 0 ? { hint: hint() } : {}) }
}

const Facets = z
  .object({
    countries: names,
    regions: names,
    brands: names.describe('At most 100, those with the most offers first'),
    subTypes: names,
  })
  .meta({ id: 'Facets', description: 'What each filter could be switched to, the others kept.' })

const FacetTotals = z
  .object({ brands: count.describe('How many there are') })
  .meta({ id: 'FacetTotals', description: 'Of facets that may be cut, how many values there are.' })

export const searches: Readonly<Record<Kind, Reading>> = byKind((kind) => {
  const { plural, words, search } = goods[kind]
  const facets = search.hasFacets ? { facets: Facets, facetTotals: FacetTotals } : {}
  const shape = pageOfOffers(`${titleOf(kind)}SearchResult`, DiscoveryOffer[kind], facets)
  return inDiscovery({
    id: `search${titleOf(plural)}`,
    path: discoveryPath(kind),
    name: `Search ${words.many}`,
    description: words.search,
    query: search.query,
    answers: answers(words.searchAnswer, shape),
    ask(paramSource, deps) {
      const index = deps.liveCatalog.current().sold[kind]
      const parsed = search.values(paramSource, index)
      const answer = pageAnswer(index, parsed, (offer) => discoveryOffer(offer, deps))
      if (!search.hasFacets) return answer
      const { brandTotal, ...facets } = index.facets(parsed.filters)
      return { ...answer, facets, facetTotals: { brands: brandTotal } }
    },
  })
})

/** The maximum offset; a caller who has read so many items should ask more narrowly. */
const maxOffset = 1_000

const publishedKind = oneOf(kinds)

const kindParam: Param<Kind> = {
  schema: publishedKind.schema,
  parse(name, value) {
    const meaning = vocabulary.meanings.get(foldedWords(value).join(' '))
    return meaning?.type === 'kind' ? meaning.kind : publishedKind.parse(name, value)
  },
}

const iccid: Param<string> = {
  schema: { type: 'string', minLength: 1, maxLength: 40 },
  parse(name, value) {
    const digits = goods.esim.fields.iccid.meantBy(value)
    if (digits !== undefined) return digits
    throw invalidParameter(name, `${name} ${goods.esim.fields.iccid.form}.`)
  },
}

const coarseNames = Object.keys(coarseRegions) as (keyof typeof coarseRegions)[]
const regionNames = [...coarseNames, ...regions.filter((name) => !(name in coarseRegions))]

const query = {
  query: described(
    question,
    'What is wanted, in plain words: brand, place, value, data, days, budget, phone number. Such as "25 EUR Netflix card for Germany"',
  ),
  kind: described(kindParam, 'Only this kind'),
  brand: described(searchName, 'A brand, operator or provider'),
  country: described(
    country,
    'ISO 3166-1 alpha-2 code (XK is Kosovo): where a card or line is from, or a plan works',
  ),
  covers: described(countries, 'Country codes with commas: plans that work in every one'),
  regions: described(
    oneOf(regionNames),
    'Plans for several countries, lines and cards of a region',
  ),
  subType: described(
    oneOf([...voucherSubTypes, ...topupSubTypes]),
    'What kind of brand, or what a line gets',
  ),
  minDataGb: described(amount, 'At least so many gigabytes'),
  minDays: described(wholeNumber(1, 3650), 'Valid for at least so many days'),
  maxUsdc: described(dollars, 'What a purchase may cost at most, in USDC'),
  phone: described(
    text,
    'Number to top up, with + and country code. Its likely operator comes first. The number is not kept',
  ),
  iccid: described(iccid, 'eSIM to recharge: finds plans. The number is not kept'),
  sort: described(
    oneOf(['match', 'price']),
    'match: the likeliest first, then by price. price: by price, an exact face value before open ones',
    { default: 'match' },
  ),
  ...paging(50),
  offset: described(wholeNumber(0, maxOffset), 'How many items to skip', { default: 0 }),
}

const Coverage = z
  .object({ total: count, countries: names.describe('Some of them, those asked for first') })
  .meta({ id: 'CoverageInShort', description: 'How many countries the plan works in.' })

function matchSchemaOf(kind: Kind) {
  if (!goods[kind].isByCoverage) return CatalogOffer[kind]
  const id = `Found${titleOf(kind)}`
  return CatalogOffer[kind].extend({ coverage: Coverage }).meta({ id })
}

const QuestionResult = pageOfOffers('SearchResult', z.union(kinds.map(matchSchemaOf)), {
  leftOut: names.describe('Words of the question that the result does not take into account'),
  sums: names
    .optional()
    .describe('If no card has the value asked for: cards that add up to it, or come nearest'),
  likelyOperator: z
    .string()
    .optional()
    .describe('The operator that the phone number was first assigned to; it may have moved since'),
})

export const searchAll = inDiscovery({
  id: 'search',
  path: searchPath,
  name: 'Search everything',
  description:
    'Vouchers, topups and eSIM plans by one question, in plain words, as parameters, or both; what a parameter says counts. Each item says its kind, what it costs in USDC, its face value and what a purchase requires. Words that the result does not take into account are listed in leftOut.',
  query,
  answers: answers('A page of offers of any kind', QuestionResult),
  ask(paramSource, deps) {
    const { limit, offset, phone, sort = 'match', ...fields } = readParams(paramSource, query)
    if (Object.values(fields).every((value) => value === undefined) && phone === undefined) {
      throw invalidParameter(
        'query',
        'query is required, or another parameter that says what is wanted.',
      )
    }
    const page = pageOf({ limit, offset })
    const { sold, rates } = deps.liveCatalog.current()
    const line = phone === undefined ? undefined : lineOf(phone, fields.country)
    const matches = findFor(sold, { ...fields, phone: line }, rates)
    const { operator, kinds } = matches.wish
    return {
      total: matches.total,
      ...page,
      items: offersOn(matches, { ...page, sort }, deps).map((offer) =>
        itemOf(offer, matches, deps),
      ),
      leftOut: matches.leftOut,
      sums: matches.sums.length > 0 ? matches.sums : undefined,
      likelyOperator: kinds.includes('topup') ? operator : undefined,
      hint: matches.total === 0 ? questionHint(matches) : undefined,
    }
  },
})

function lineOf(phone: string, own: string | undefined): Question['phone'] {
  for (const written of [phone, phoneMeantBy(phone, own) ?? '']) {
    const place = readPhonePlace(written, own)
    if (place?.country !== undefined) return { country: place.country, operator: place.operator }
  }
  throw invalidParameter(
    'phone',
    'phone must be a phone number with + and the code of its country, such as +5355564362.',
  )
}

function offersOn(
  { kinds, wish }: Matches,
  { limit, offset, sort }: Page & { readonly sort: 'match' | 'price' },
  { pricing }: ReadDeps,
): Offer[] {
  const end = offset + limit
  if (sort === 'match') return kinds.flatMap(({ first }) => first(end)).slice(offset, end)
  const isOpen = ({ price }: Offer) => Number(wish.worth !== undefined && price.type === 'RANGE')
  return kinds
    .flatMap(({ cheapest }) => cheapest(end))
    .map((offer) => ({ offer, price: Number(lowestCharge(offer, pricing)) }))
    .sort((one, other) => isOpen(one.offer) - isOpen(other.offer) || one.price - other.price)
    .slice(offset, end)
    .map(({ offer }) => offer)
}

function itemOf(offer: Offer, { wish }: Matches, deps: ReadDeps): Published {
  const item = catalogOffer(offer, deps)
  return goods[offer.kind].isByCoverage
    ? { ...item, coverage: coverageOf(offer, wish.countries) }
    : item
}

const maxListed = 12

function coverageOf(offer: Offer, queryCountries: readonly string[]): z.infer<typeof Coverage> {
  const covered = coveredBy(offer)
  const first = queryCountries.filter((code) => covered.includes(code))
  const countries = [...new Set([...first, ...covered])].slice(0, maxListed)
  return { total: covered.length, countries }
}
