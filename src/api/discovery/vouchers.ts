import { voucherSubTypes } from '../../catalog/lists.ts'
import type { Docs } from '../../catalog/search/docs.ts'
import { mostOffered, nearestBrands, nearestCountries } from '../../catalog/search/nearest.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { answers } from '../operation.ts'
import type { ParamSource } from '../param-source.ts'
import {
  country,
  described,
  oneOf,
  pageOf,
  paging,
  readParams,
  searchName,
  searchText,
} from '../params.ts'
import type { Query } from '../query.ts'
import { inDiscovery } from '../reading.ts'
import { searchQuery } from '../search-answer.ts'
import { VoucherSearchResult } from '../shapes/lists.ts'
import { paths } from './paths.ts'

type SubType = (typeof voucherSubTypes)[number]

const query = {
  country,
  brand: described(searchName, 'Brand: its name, or the beginning of the words of its name'),
  subType: described(oneOf(voucherSubTypes), 'What kind of brand'),
  search: described(searchText, 'Free text over brand, description, notes, sub-types and places'),
  ...paging(50),
}

export const searchVouchers = inDiscovery({
  id: 'searchVouchers',
  path: paths.vouchers,
  name: 'Search vouchers',
  description:
    'Gift vouchers on sale. All filters must be met. An empty result says in hint what would find something.',
  query,
  answers: answers('A page of vouchers, the best match first', VoucherSearchResult),
  ask,
})

function ask(given: ParamSource, { liveCatalog }: ReadDeps): Query {
  const { limit, offset, ...params } = readParams(given, query)
  const index = liveCatalog.current().sold.voucher
  return searchQuery({
    kind: 'voucher',
    index,
    params,
    page: pageOf({ limit, offset }),
    filtersOf: ({ search, ...filters }) => ({ ...filters, text: search }),
    alternatives: alternativesIn(index),
    form: 'discovery',
  })
}

function alternativesIn(index: SearchIndex) {
  return {
    country: (given: string, left: Docs) => nearestCountries(index, given, left),
    subType: (_: SubType, left: Docs) => mostOffered(index.subTypes, left) as SubType[],
    search: (given: string, left: Docs) => nearestBrands(index, given, left),
    brand: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
