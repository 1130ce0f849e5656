import { countryName } from '../../catalog/countries.ts'
import { goods, kinds } from '../../catalog/good.ts'
import type { KindDefinition, KindList } from '../../catalog/kinds/kind.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import type { ValueCount } from '../../catalog/search/field.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import { fold, slugOf } from '../../lib/text.ts'
import { catalogOffer } from '../offers.ts'
import { answers, inCatalog, type Reading } from '../operation.ts'
import { catalogPath, titleOf } from '../paths.ts'
import { type Published, wholeListQuery } from '../query.ts'
import { searchQuery } from '../search-answer.ts'
import { BrandList, CatalogPage, CountryList, RegionList, VoucherFilters } from '../shapes/lists.ts'

function browsing(kind: Kind): Reading {
  const { browse, plural, words } = goods[kind]
  return inCatalog({
    id: `browse${titleOf(plural)}`,
    path: `${catalogPath(kind)}/offers`,
    name: `Browse ${words.many}`,
    description: words.browse,
    query: browse.query,
    answers: answers(`A page of ${words.many}`, CatalogPage[kind]),
    ask(given, deps) {
      const index = deps.liveCatalog.current().listed[kind]
      const asked = browse.read(given, index)
      const view = (offer: Offer) => catalogOffer(offer, deps)
      return searchQuery({ index, asked, view })
    },
  })
}

function listing(kind: Kind, list: KindList): Reading {
  const { makes, ...operation } = listed[list](kind, goods[kind])
  return inCatalog({
    id: `${kind}${titleOf(list)}`,
    path: `${catalogPath(kind)}/${list}`,
    ...operation,
    ask: (given, { liveCatalog }) =>
      wholeListQuery(given, () => makes(liveCatalog.current().listed[kind])),
  })
}

type Listed = Pick<Reading, 'name' | 'description' | 'answers'> & {
  makes(index: SearchIndex): Readonly<Record<string, unknown>>
}

const listed: Readonly<Record<KindList, (kind: Kind, of: KindDefinition) => Listed>> = {
  brands: (kind, { plural }) => ({
    name: `${titleOf(kind)} brands`,
    description: `Brands with ${plural}, their countries and their number of offers.`,
    answers: answers('All brands', BrandList),
    makes: (index) => wholeList(brandItems(index)),
  }),
  countries: (_, { plural }) => ({
    name: `Countries with ${plural}`,
    description: `Countries with ${plural}, and their number of offers.`,
    answers: answers('All countries', CountryList),
    makes: (index) => wholeList(countryItems(index)),
  }),
  filters: (kind) => ({
    name: `${titleOf(kind)} filters`,
    description: `Every value that brand, category and country of the ${kind} list take.`,
    answers: answers('All values', VoucherFilters),
    makes: (index) => ({
      brands: index.values('brandName'),
      categories: index.values('category'),
      countries: index.values('country'),
    }),
  }),
  regions: (kind, { plural }) => ({
    name: `${titleOf(kind)} regions`,
    description: `Regions with ${plural}, with their slugs and their number of offers.`,
    answers: answers('All regions', RegionList),
    makes: (index) => wholeList(byValue(index.counts('region')).map(regionItem)),
  }),
}

/** The lists of each kind in the catalog interface: its offers, and its brands, countries and so on. */
export const catalogReadings: readonly Reading[] = kinds.flatMap((kind) => {
  const { lists }: KindDefinition = goods[kind]
  return [browsing(kind), ...lists.map((list) => listing(kind, list))]
})

/** A list without parameters is sent whole, in the form of every list. */
function wholeList(items: readonly Published[]): Published {
  return { total: items.length, limit: items.length, offset: 0, items }
}

function byValue(counts: readonly ValueCount[]): ValueCount[] {
  return counts.toSorted(([one], [other]) => (fold(one) < fold(other) ? -1 : 1))
}

function regionItem([name, offers]: ValueCount): Published {
  return { slug: slugOf(name), name, offers }
}

/** The countries that have offers of a kind: `{code, name, offers}`. */
function countryItems(index: SearchIndex): Published[] {
  return byValue(index.counts('country')).map(([code, offers]) => ({
    code,
    name: countryName(code),
    offers,
  }))
}

/** The brands that have offers of a kind: `{brand, brandName, countries, offers}`. */
function brandItems(index: SearchIndex): Published[] {
  return index
    .brands()
    .map(({ brand, names, ...counted }) => ({ brand, brandName: names[0], ...counted }))
}
