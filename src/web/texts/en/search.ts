import type { ShopField, Sort } from '../../../desk/shop/shop-query.ts'
import type { Kind } from '../../../goods/offer.ts'
import type { AmountKind } from '../../../goods/search/face-values.ts'

type Fault = (given: string, meant: string | undefined) => string

const meantBy = (meant: string | undefined) =>
  meant === undefined ? '' : ` Did you mean ${meant}?`

/** What is wrong in a field. */
const faults: Readonly<Record<ShopField, Fault>> = {
  kind: (given) => `There is no kind “${given}”.`,
  q: (given) =>
    given.length > 64
      ? 'At most 64 characters can be searched for.'
      : 'A search needs at least one letter or digit.',
  country: (given, meant) =>
    meant === undefined
      ? `“${given}” is no country that is known here. Choose one from the list.`
      : `“${given}” is not the code of a country. ${meant} is chosen now: press Search to use it.`,
  brand: () => 'A brand has at most 200 characters.',
  category: (given, meant) => `There is no category “${given}”.${meantBy(meant)}`,
  region: (given, meant) => `There is no region “${given}”.${meantBy(meant)}`,
  min: (given, meant) =>
    `“${given}” is not an amount. Write it in digits, such as 25 or 12.50.${meantBy(meant)}`,
  max: (given, meant) =>
    meant !== undefined && Number(meant) > Number(given)
      ? `The upper bound, ${given}, is below the lower one, ${meant}.`
      : `“${given}” is not an amount. Write it in digits, such as 25 or 12.50.${meantBy(meant)}`,
  amount: (given) => `“${given}” is neither a fixed amount nor one that you choose.`,
  sort: (given) => `There is no order “${given}”.`,
  page: (given) => `There is no page “${given}”.`,
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
  country: 'Where it is used',
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

  filters: 'Narrow it down',
  filtersChosen: (count: number) => `Narrow it down (${count} chosen)`,
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
  bandSet: 'Set',
  more: (count: number) => `${count} more`,
  chosen: 'Chosen',
  sort: 'Order',
  sorts: { match: 'Best match', low: 'Lowest value', high: 'Highest value' } satisfies Record<
    Sort,
    string
  >,

  pages: 'Pages',
  previous: 'Previous',
  next: 'Next',
  page: (page: number, pages: number) => `Page ${page} of ${pages}`,

  none: 'Nothing found',
  noneText: 'No offer has all of this together.',
  noneTry: 'What does find something:',
  nearest: (value: string) => `Search for “${value}” instead`,
  atLeast: (value: string) => `at least $${value}`,
  atMost: (value: string) => `at most $${value}`,
  without: (name: string) => `Search without “${name}”`,
  otherKind: (kind: string, count: string) => `${kind}: ${count}`,
  clearAll: 'Start over',
  beyond: (pages: number) =>
    pages === 1 ? 'There is only one page.' : `There are only ${pages} pages.`,
  lastPage: 'Go to the last one',

  faultTitle: 'Something in this search cannot be read',
  faultLead: 'The rest of it still holds; correct what is marked, or leave it out.',
  faults,
}
