import { goods } from '../../goods/good.ts'
import type { Kind } from '../../goods/offer.ts'
import { answers, type Reading, refusesAnyQuery } from '../operation.ts'
import { catalogPrefix } from '../paths.ts'
import { wholeQuestion } from '../question.ts'
import { CountryList } from '../shapes/lists.ts'
import { countryItems, wholeList } from './whole-list.ts'

/** The countries that have offers of a kind. */
function countriesOf(kind: Kind): Reading {
  return {
    id: `${kind}Countries`,
    method: 'GET',
    path: `${catalogPrefix}/${goods[kind].plural}/countries`,
    group: 'Catalog',
    name: `Countries with ${goods[kind].plural}`,
    description: `Countries with ${goods[kind].plural}, and their number of offers.`,
    answers: answers('All countries', CountryList),
    refusals: refusesAnyQuery,
    limit: 'reading',
    access: 'free',
    ask: (given, { shelf }) =>
      wholeQuestion(given, () => wholeList(countryItems(shelf.current().listed[kind]))),
  }
}

/** The published lists of countries; eSIM plans have none (service.md, Endpoints). */
export const voucherCountries = countriesOf('voucher')
export const topupCountries = countriesOf('topup')
