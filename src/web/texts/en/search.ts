import type { ShopField, Sort } from '../../../api/shop/shop-query.ts'
import type { Kind } from '../../../catalog/offer.ts'
import type { AmountKind } from '../../../catalog/search/face-values.ts'

type Fault = (given: string, meant: string | undefined) => string

const meantBy = (meant: string | undefined) =>
  meant === undefined ? '' : ` Did you mean ${meant}?`

/** What is wrong in a field. */
const faults: Readonly<Record<ShopField, Fault>> = {
  kind: (given) => `“${given}” is not one of our categories.`,
  q: (given) =>
    given.length > 64
      ? 'A search can have at most 64 characters.'
      : 'Enter at least one letter or digit.',
  country: (given, meant) =>
    meant === undefined
      ? `We don’t know a country called “${given}”. Choose one from the list.`
      : `“${given}” is not a country code. ${meant} is selected now: press Search to use it.`,
  brand: () => 'The name of a brand can have at most 200 characters.',
  category: (given, meant) => `There is no category “${given}”.${meantBy(meant)}`,
  region: (given, meant) => `There is no region “${given}”.${meantBy(meant)}`,
  min: (given, meant) =>
    `“${given}” is not an amount. Enter a number such as 25 or 12.50.${meantBy(meant)}`,
  max: (given, meant) =>
    meant !== undefined && Number(meant) > Number(given)
      ? `The upper limit, ${given}, is below the lower limit, ${meant}.`
      : `“${given}” is not an amount. Enter a number such as 25 or 12.50.${meantBy(meant)}`,
  amount: (given) => `“${given}” is not an option. Amounts are either fixed or chosen by you.`,
  sort: (given) => `Results can’t be sorted by “${given}”.`,
  page: (given) => `“${given}” is not a page number.`,
}

/** Every sentence of the search, on the front page and on its own. */
export const search = {
  form: 'Search the store',
  kind: 'What are you looking for?',
  kinds: { voucher: 'Gift cards', topup: 'Topups', esim: 'eSIM data' } satisfies Record<
    Kind,
    string
  >,
  q: 'Brand, operator or word',
  qExample: 'Amazon, Netflix, Steam …',
  country: 'Country',
  anyCountry: 'Any country',
  countries: 'Countries',
  submit: 'Search',

  title: (kind: string, place: string | undefined, words: string | undefined) =>
    [words === undefined ? kind : `“${words}” in ${kind}`, place].filter(Boolean).join(' for '),
  description: (kind: string, total: string, place: string | undefined) =>
    `${kind}${place === undefined ? '' : ` for ${place}`}: ${total}, paid in crypto, delivered at once, no account.`,
  crumb: 'You are here',
  range: (from: number, to: number, total: string) => `${from} to ${to} of ${total}`,
  kindTabs: 'Kinds of goods',

  filters: 'Filters',
  filtersChosen: (count: number) => `Filters (${count} applied)`,
  facets: {
    category: 'Category',
    region: 'Region',
    brand: 'Brand',
    band: 'Value in US dollars',
    amount: 'Amount',
  },
  amounts: { fixed: 'Fixed value', open: 'You choose the value' } satisfies Record<
    AmountKind,
    string
  >,
  band: (min: number, max: number | undefined) =>
    max === undefined ? `$${min} and more` : `$${min} to $${max}`,
  bandFrom: 'From',
  bandTo: 'To',
  bandSet: 'Apply',
  more: (count: number) => `${count} more`,
  chosen: 'Applied filters',
  sort: 'Sort by',
  sorts: { match: 'Best match', low: 'Lowest value', high: 'Highest value' } satisfies Record<
    Sort,
    string
  >,

  pages: 'Pages',
  previous: 'Previous',
  next: 'Next',
  page: (page: number, pages: number) => `Page ${page} of ${pages}`,

  none: 'No results',
  noneText: 'No offer matches all of this.',
  noneTry: 'Try one of these instead:',
  nearest: (value: string) => `Search for “${value}” instead`,
  atLeast: (value: string) => `at least $${value}`,
  atMost: (value: string) => `at most $${value}`,
  without: (name: string) => `Search without “${name}”`,
  otherKind: (kind: string, count: string) => `${kind}: ${count}`,
  clearAll: 'Start over',
  beyond: (pages: number) =>
    pages === 1 ? 'There is only one page.' : `There are only ${pages} pages.`,
  lastPage: 'Go to the last one',

  faultTitle: 'Check your search',
  faultLead: 'We couldn’t use what is marked below. Correct it or clear it, and search again.',
  faults,
}
