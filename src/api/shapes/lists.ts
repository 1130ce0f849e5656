import * as z from 'zod'
import { byKind, byPlural, goods, kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { CatalogOffer, DiscoveryOffer } from '../offers.ts'
import { titleOf } from '../paths.ts'

/** The published shapes of lists. */

const count = z.int().min(0)
const names = z.array(z.string())

const page = {
  total: count.describe('How many match'),
  limit: count,
  offset: count,
}

/** Why a search found nothing, and what would find something. */
const Hint = z
  .object({
    message: z.string(),
    parameter: z.string().optional().describe('The filter that emptied the result'),
    nearest: z.string().optional().describe('A value of it that finds something'),
  })
  .meta({ id: 'Hint', description: 'Why a search found nothing, and what would.' })

/** A page of a search. */
function pageOfOffers(id: string, item: z.ZodType, more: z.ZodRawShape = {}) {
  return z.object({ ...page, items: z.array(item), hint: Hint.optional(), ...more }).meta({ id })
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

/** A page of results for a kind in the discovery interface. */
export const SearchResult = byKind((kind) =>
  pageOfOffers(
    `${titleOf(kind)}SearchResult`,
    DiscoveryOffer[kind],
    goods[kind].search.hasFacets ? { facets: Facets, facetTotals: FacetTotals } : {},
  ),
)

const Coverage = z
  .object({ total: count, countries: names.describe('Some of them, those asked for first') })
  .meta({ id: 'CoverageInShort', description: 'How many countries the plan works in.' })

function foundOffer(kind: Kind) {
  if (!goods[kind].isByCoverage) return CatalogOffer[kind]
  const id = `Found${titleOf(kind)}`
  return CatalogOffer[kind].extend({ coverage: Coverage }).meta({ id })
}

/** A page of results of the search over all kinds. */
export const QuestionResult = pageOfOffers('SearchResult', z.union(kinds.map(foundOffer)), {
  leftOut: names.describe('Words of the question that the result does not take into account'),
  likelyOperator: z
    .string()
    .optional()
    .describe('The operator that the phone number was first assigned to; it may have moved since'),
})

/** A list that is sent whole. */
function wholeListOf(id: string, item: z.ZodRawShape) {
  return z.object({ ...page, items: z.array(z.object(item)) }).meta({ id })
}

export const CountryList = wholeListOf('CountryList', {
  code: z.string(),
  name: z.string(),
  offers: count,
})
export const BrandList = wholeListOf('BrandList', {
  brand: z.string(),
  brandName: z.string(),
  countries: names,
  offers: count,
})
export const RegionList = wholeListOf('RegionList', {
  slug: z.string(),
  name: z.string(),
  offers: count,
})

export const VoucherFilters = z
  .object({ brands: names, categories: names, countries: names })
  .meta({ id: 'VoucherFilters' })

export const ServiceIndex = z
  .object({
    version: z.string().describe('Of the discovery interface'),
    name: z.string(),
    description: z.string(),
    accepts_crypto: names,
    delivery: z.string(),
    website: z.url(),
    search: z.string().describe('Where all kinds are searched by one question'),
    catalogs: z.object(byPlural(() => z.string())),
    capabilities: z.string(),
    offers: z
      .object(byPlural(() => z.string()))
      .describe('The record of an offer, which names the call that buys it'),
    catalog: z.string(),
    manifest: z.string(),
    mcp: z.string(),
    openapi: z.string(),
  })
  .meta({ id: 'ServiceIndex' })

export const Capabilities = z
  .object({
    version: z.string().describe('Of the discovery interface'),
    accepts_crypto: names,
    delivery: z.string(),
    no_account_required: z.boolean(),
    ...byPlural((kind) =>
      z.object({ ...goods[kind].published.capabilities, query_url: z.string() }),
    ),
  })
  .meta({ id: 'Capabilities' })

/** A page of offers of a kind in the catalog interface. */
export const CatalogPage = byKind((kind) =>
  pageOfOffers(`Catalog${titleOf(kind)}Page`, CatalogOffer[kind]),
)
