import { voucherSubTypes } from '../../goods/lists.ts'
import type { Docs } from '../../goods/search/docs.ts'
import { mostOffered, nearestBrands, nearestCountries } from '../../goods/search/nearest.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { country, oneOf, pageOf, paging, readParams, searchText, text } from '../params.ts'
import type { Question } from '../question.ts'
import { searchQuestion } from '../search-answer.ts'

type SubType = (typeof voucherSubTypes)[number]

const readers = {
  country,
  brand: text,
  subType: oneOf(voucherSubTypes),
  search: searchText,
  ...paging(50),
}

/** `GET /ai/vouchers`: a VoucherSearchResult. */
export function searchVouchers(url: string, { shelf }: ReadDeps): Question {
  const { limit, offset, ...params } = readParams(url, readers)
  const index = shelf.current().sold.voucher
  return searchQuestion({
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
    subType: (_: SubType, left: Docs) => publishedOf(mostOffered(index.subTypes, left)),
    search: (given: string, left: Docs) => nearestBrands(index, given, left),
    brand: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}

/** Sub-types that the published list lacks stay on their offers, but cannot be asked for here. */
function publishedOf(subTypes: readonly string[]): SubType[] {
  return subTypes.flatMap((name) => voucherSubTypes.filter((published) => published === name))
}
