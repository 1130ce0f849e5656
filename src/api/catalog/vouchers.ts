import type { Docs } from '../../catalog/search/docs.ts'
import type { Filters } from '../../catalog/search/filters.ts'
import {
  highestFaceUsd,
  lowestFaceUsd,
  mostOffered,
  nearestBrands,
  nearestCountries,
} from '../../catalog/search/nearest.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { ReadDeps } from '../deps.ts'
import { answers } from '../operation.ts'
import type { ParamSource } from '../param-source.ts'
import {
  country,
  described,
  dollars,
  oneOf,
  pageOf,
  paging,
  readParams,
  searchName,
  type ValuesOf,
} from '../params.ts'
import { catalogPrefix } from '../paths.ts'
import { type Query, wholeListQuery } from '../query.ts'
import { inCatalog } from '../reading.ts'
import { searchQuery } from '../search-answer.ts'
import { BrandList, CatalogPage, VoucherFilters } from '../shapes/lists.ts'
import { unfinishedView } from '../views/catalog-offer.ts'
import { brandItems, wholeList } from './whole-list.ts'

const query = {
  brand: described(searchName, 'Brand: its name, or the beginning of the words of its name'),
  country,
  category: described(searchName, 'What the supplier files it under; /vouchers/filters lists them'),
  minValue: described(dollars, 'Least face value, in USD'),
  maxValue: described(dollars, 'Greatest face value, in USD'),
  ...paging(100),
}
type Params = ValuesOf<typeof query>

export const browseVouchers = inCatalog({
  id: 'browseVouchers',
  path: `${catalogPrefix}/vouchers/offers`,
  name: 'Browse vouchers',
  description:
    'Gift voucher offers with exact prices in USDC, also those that cannot be bought now, with the reason.',
  query,
  answers: answers('A page of vouchers', CatalogPage.voucher),
  ask: askOffers,
})

export const voucherBrands = inCatalog({
  id: 'voucherBrands',
  path: `${catalogPrefix}/vouchers/brands`,
  name: 'Voucher brands',
  description: 'Brands with vouchers, their countries and their number of offers.',
  answers: answers('All brands', BrandList),
  ask: (given, { liveCatalog }) =>
    wholeListQuery(given, () => wholeList(brandItems(liveCatalog.current().listed.voucher))),
})

export const voucherFilters = inCatalog({
  id: 'voucherFilters',
  path: `${catalogPrefix}/vouchers/filters`,
  name: 'Voucher filters',
  description: 'Every value that brand, category and country of the voucher list take.',
  answers: answers('All values', VoucherFilters),
  ask: askFilters,
})

function askOffers(given: ParamSource, deps: ReadDeps): Query {
  const index = deps.liveCatalog.current().listed.voucher
  const { limit, offset, ...read } = readParams(given, query)
  const params = { ...read, ...categoryIn(index, read) }
  checkBounds(params)
  return searchQuery({
    kind: 'voucher',
    index,
    params,
    page: pageOf({ limit, offset }),
    filtersOf,
    alternatives: alternativesIn(index),
    form: 'catalog',
    view: unfinishedView(deps),
  })
}

function askFilters(given: ParamSource, { liveCatalog }: ReadDeps): Query {
  return wholeListQuery(given, () => {
    const { brandNames, categories, countries } = liveCatalog.current().listed.voucher
    return {
      brands: brandNames.values,
      categories: categories.values,
      countries: countries.values,
    }
  })
}

/** A category is the supplier's own word, so the values to choose from are those of the catalog. */
function categoryIn(index: SearchIndex, { category }: Params): Pick<Params, 'category'> {
  if (category === undefined) return {}
  return { category: oneOf(index.categories.values).read('category', category) }
}

function filtersOf({ brand, country, category, minValue, maxValue }: Params): Filters {
  return { brand, country, category, minUsd: minValue, maxUsd: maxValue }
}

function checkBounds({ minValue, maxValue }: Params): void {
  if (minValue === undefined || maxValue === undefined || minValue <= maxValue) return
  throw new Refusal('invalid_parameter', 'minValue must not be more than maxValue.', {
    parameter: 'minValue',
  })
}

function alternativesIn(index: SearchIndex) {
  return {
    minValue: (_: number, left: Docs) => highestFaceUsd(index, left),
    maxValue: (_: number, left: Docs) => lowestFaceUsd(index, left),
    country: (given: string, left: Docs) => nearestCountries(index, given, left),
    category: (_: string, left: Docs) => mostOffered(index.categories, left),
    brand: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
