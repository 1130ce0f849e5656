import * as z from 'zod'
import { CatalogOffer, EsimPlan, TopupOffer, VoucherOffer } from './offers.ts'

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
  .object({ countries: names, regions: names, brands: names, subTypes: names })
  .meta({ id: 'Facets', description: 'What each filter could be switched to, the others kept.' })

export const VoucherSearchResult = pageOfOffers('VoucherSearchResult', VoucherOffer)
export const TopupSearchResult = pageOfOffers('TopupSearchResult', TopupOffer, { facets: Facets })
export const EsimSearchResult = pageOfOffers('EsimSearchResult', EsimPlan)

/** A list that comes whole. */
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
    catalogs: z.object({ vouchers: z.string(), topups: z.string(), esims: z.string() }),
    capabilities: z.string(),
    offers: z
      .object({ vouchers: z.string(), topups: z.string(), esims: z.string() })
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
    vouchers: z.object({
      countries: names,
      subtypes: names,
      regions: names,
      brands: names,
      query_url: z.string(),
    }),
    topups: z.object({ countries: names, regions: names, query_url: z.string() }),
    esims: z.object({ coverage: z.string(), query_url: z.string() }),
  })
  .meta({ id: 'Capabilities' })

/** A page of what the catalog interface lists of a kind. */
export const CatalogPage = {
  voucher: pageOfOffers('CatalogVoucherPage', CatalogOffer.voucher),
  topup: pageOfOffers('CatalogTopupPage', CatalogOffer.topup),
  esim: pageOfOffers('CatalogEsimPage', CatalogOffer.esim),
} as const
