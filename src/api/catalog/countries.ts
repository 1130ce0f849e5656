import { goods } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { answers, type Reading } from '../operation.ts'
import { catalogPrefix } from '../paths.ts'
import { wholeListQuery } from '../query.ts'
import { inCatalog } from '../reading.ts'
import { CountryList } from '../shapes/lists.ts'
import { countryItems, wholeList } from './whole-list.ts'

/** The countries that have offers of a kind. */
function countriesOf(kind: Kind): Reading {
  return inCatalog({
    id: `${kind}Countries`,
    path: `${catalogPrefix}/${goods[kind].plural}/countries`,
    name: `Countries with ${goods[kind].plural}`,
    description: `Countries with ${goods[kind].plural}, and their number of offers.`,
    answers: answers('All countries', CountryList),
    ask: (given, { liveCatalog }) =>
      wholeListQuery(given, () => wholeList(countryItems(liveCatalog.current().listed[kind]))),
  })
}

/** The lists of countries that the catalog interface publishes. It publishes none for eSIM plans. */
export const voucherCountries = countriesOf('voucher')
export const topupCountries = countriesOf('topup')
