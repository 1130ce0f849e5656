import { topupRegions, voucherSubTypes } from '../../catalog/lists.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { answers } from '../operation.ts'
import type { ParamSource } from '../param-source.ts'
import { type Query, wholeListQuery } from '../query.ts'
import { inDiscovery } from '../reading.ts'
import { Capabilities } from '../shapes/lists.ts'
import { discoveryVersion, paths } from './paths.ts'

export const capabilities = inDiscovery({
  id: 'capabilities',
  path: paths.capabilities,
  name: 'What can be searched for',
  description:
    'Every country, region, brand and sub-type that a search finds something with, and the currencies that the store takes from people.',
  answers: answers('All values', Capabilities),
  ask,
})

function ask(given: ParamSource, { liveCatalog, site }: ReadDeps): Query {
  return wholeListQuery(given, () => {
    const { voucher, topup, esim } = liveCatalog.current().sold
    return {
      version: discoveryVersion,
      accepts_crypto: site.acceptsCrypto,
      delivery: 'instant',
      no_account_required: true,
      vouchers: {
        countries: voucher.countries.values,
        subtypes: listed(voucherSubTypes, voucher.subTypes.values),
        regions: voucher.regions.values,
        brands: voucher.brandNames.values,
        query_url: paths.vouchers,
      },
      topups: {
        countries: topup.countries.values,
        regions: listed(topupRegions, topup.regions.values),
        query_url: paths.topups,
      },
      esims: { coverage: coverageOf(esim), query_url: paths.esims },
    }
  })
}

function listed(list: readonly string[], values: readonly string[]): string[] {
  return list.filter((item) => values.includes(item))
}

function coverageOf(index: SearchIndex): string {
  const own = index.countries.values.length
  const covered = index.covered.values.length
  return `${covered} countries and territories; single-country plans for ${own} of them`
}
