import type { Docs } from '../../goods/search/docs.ts'
import type { Filters } from '../../goods/search/filters.ts'
import {
  highestFaceUsd,
  lowestFaceUsd,
  mostOffered,
  nearestBrands,
  nearestCountries,
} from '../../goods/search/nearest.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import { Refusal } from '../../primitives/refusal.ts'
import type { ReadDeps } from '../deps.ts'
import {
  country,
  dollars,
  oneOf,
  type ParamsOf,
  pageOf,
  paging,
  readParams,
  text,
} from '../params.ts'
import { type Question, wholeQuestion } from '../question.ts'
import { searchQuestion } from '../search-answer.ts'
import { unfinishedView } from '../views/catalog-offer.ts'

type Params = ParamsOf<ReturnType<typeof readersFor>>

/** `GET /vouchers/offers`: browse voucher offers. */
export function browseVouchers(url: string, deps: ReadDeps): Question {
  const index = deps.shelf.current().listed.voucher
  const { limit, offset, ...params } = readParams(url, readersFor(index))
  checkBounds(params)
  return searchQuestion({
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

/** `GET /vouchers/filters`: every value that the browse parameters take. */
export function voucherFilters(url: string, { shelf }: ReadDeps): Question {
  return wholeQuestion(url, () => {
    const { brandNames, subTypes, countries } = shelf.current().listed.voucher
    return {
      brands: brandNames.values,
      categories: subTypes.values,
      countries: countries.values,
    }
  })
}

/** A category is a sub-type found in the catalog, so the list is the catalog's (decisions 3). */
function readersFor(index: SearchIndex) {
  return {
    brand: text,
    country,
    category: oneOf(index.subTypes.values),
    minValue: dollars,
    maxValue: dollars,
    ...paging(100),
  }
}

function filtersOf({ brand, country, category, minValue, maxValue }: Params): Filters {
  return { brand, country, subType: category, minUsd: minValue, maxUsd: maxValue }
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
    category: (_: string, left: Docs) => mostOffered(index.subTypes, left),
    brand: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
