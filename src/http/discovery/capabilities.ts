import { topupRegions, voucherSubTypes } from '../../goods/lists.ts'
import { type Column, valuesAmong } from '../../goods/search/column.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { type Question, wholeQuestion } from '../question.ts'
import { paths } from './paths.ts'

/** `GET /ai/capabilities`: every value that a search can be asked for and finds something with. */
export function capabilities(url: string, { shelf, site }: ReadDeps): Question {
  return wholeQuestion(url, () => {
    const { voucher, topup, esim } = shelf.current().index
    return {
      accepts_crypto: site.acceptsCrypto,
      delivery: 'instant',
      no_account_required: true,
      vouchers: {
        countries: soldValues(voucher, voucher.countries),
        subtypes: listed(voucherSubTypes, soldValues(voucher, voucher.subTypes)),
        regions: soldValues(voucher, voucher.regions),
        brands: soldValues(voucher, voucher.brandNames),
        query_url: paths.vouchers,
      },
      topups: {
        countries: soldValues(topup, topup.countries),
        regions: listed(topupRegions, soldValues(topup, topup.regions)),
        query_url: paths.topups,
      },
      esims: { coverage: coverageOf(esim), query_url: paths.esims },
    }
  })
}

function soldValues(index: SearchIndex, column: Column): string[] {
  return valuesAmong(column, index.sold)
}

function listed(list: readonly string[], values: readonly string[]): string[] {
  return list.filter((item) => values.includes(item))
}

function coverageOf(index: SearchIndex): string {
  const own = soldValues(index, index.countries).length
  const covered = soldValues(index, index.covered).length
  return `${covered} countries and territories; single-country plans for ${own} of them`
}
