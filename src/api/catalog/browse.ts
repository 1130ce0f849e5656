import * as z from 'zod'
import { findOffer } from '../../catalog/catalog.ts'
import { countryName } from '../../catalog/countries.ts'
import { type KindDefinition, type KindList, names } from '../../catalog/kinds/kind.ts'
import { goods } from '../../catalog/kinds.ts'
import { type Kind, kinds } from '../../catalog/offer.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import { fold, slugOf } from '../../lib/text.ts'
import { count, page, pageAnswer, pageOfOffers } from '../discovery/search.ts'
import { CatalogOffer, catalogOffer, OfferDetail, offerDetail } from '../offers.ts'
import {
  answers,
  catalogPath,
  inCatalog,
  offerPath,
  type Published,
  type Reading,
  titleOf,
} from '../operation.ts'

function browsing(kind: Kind): Reading {
  const { browse, plural, words } = goods[kind]
  const shape = pageOfOffers(`Catalog${titleOf(kind)}Page`, CatalogOffer[kind])
  return inCatalog({
    id: `browse${titleOf(plural)}`,
    path: `${catalogPath(kind)}/offers`,
    name: `Browse ${words.many}`,
    description: words.browse,
    query: browse.query,
    answers: answers(`A page of ${words.many}`, shape),
    ask(paramSource, deps) {
      const index = deps.liveCatalog.current().listed[kind]
      return pageAnswer(index, browse.values(paramSource, index), (offer) =>
        catalogOffer(offer, deps),
      )
    },
  })
}

function offerOf(kind: Kind): Reading {
  const reading = inCatalog({
    id: `${kind}Offer`,
    path: offerPath(kind, '{id}'),
    name: `Get one ${goods[kind].words.noun}`,
    description:
      'One offer with its price, its notes, when it is refunded, and the exact schema of the body that buys it.',
    answers: answers('The offer', OfferDetail[kind]),
    ask: (_, deps, id = '') =>
      offerDetail(findOffer(deps.liveCatalog.current(), kind, id, 'id'), deps),
  })
  return {
    ...reading,
    pathParams: { id: { type: 'string', description: 'offerId' } },
    refusals: [...reading.refusals, 'offer_not_found'],
  }
}

function wholeListOf(id: string, item: z.ZodRawShape) {
  return z.object({ ...page, items: z.array(z.object(item)) }).meta({ id })
}

function wholeList(items: readonly Published[]): Published {
  return { total: items.length, limit: items.length, offset: 0, items }
}

const CountryList = wholeListOf('CountryList', {
  code: z.string(),
  name: z.string(),
  offers: count,
})
const BrandList = wholeListOf('BrandList', {
  brand: z.string(),
  brandName: z.string(),
  countries: names,
  offers: count,
})
const RegionList = wholeListOf('RegionList', { slug: z.string(), name: z.string(), offers: count })
const VoucherFilters = z
  .object({ brands: names, categories: names, countries: names })
  .meta({ id: 'VoucherFilters' })

type Listed = Pick<Reading, 'name' | 'description' | 'answers'> & {
  readonly makes: (index: SearchIndex) => Published
}

const listed: Readonly<Record<KindList, (kind: Kind) => Listed>> = {
  brands: (kind) => ({
    name: `${titleOf(kind)} brands`,
    description: `Brands with ${goods[kind].plural}, their countries and their number of offers.`,
    answers: answers('All brands', BrandList),
    makes: (index) =>
      wholeList(
        index
          .brands()
          .map(({ brand, names, ...counted }) => ({ brand, brandName: names[0], ...counted })),
      ),
  }),
  countries: (kind) => ({
    name: `Countries with ${goods[kind].plural}`,
    description: `Countries with ${goods[kind].plural}, and their number of offers.`,
    answers: answers('All countries', CountryList),
    makes: (index) =>
      counted(index, 'country', (code, offers) => ({ code, name: countryName(code), offers })),
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
  regions: (kind) => ({
    name: `${titleOf(kind)} regions`,
    description: `Regions with ${goods[kind].plural}, with their slugs and their number of offers.`,
    answers: answers('All regions', RegionList),
    makes: (index) =>
      counted(index, 'region', (name, offers) => ({ slug: slugOf(name), name, offers })),
  }),
}

function counted(
  index: SearchIndex,
  field: 'country' | 'region',
  item: (value: string, offers: number) => Published,
): Published {
  const byName = index
    .counts(field)
    .toSorted(([one], [other]) => (fold(one) < fold(other) ? -1 : 1))
  return wholeList(byName.map(([value, offers]) => item(value, offers)))
}

export const catalogReadings: readonly Reading[] = kinds.flatMap((kind) => {
  const { lists }: KindDefinition = goods[kind]
  const others = lists.map((list) => {
    const { makes, ...operation } = listed[list](kind)
    return inCatalog({
      id: `${kind}${titleOf(list)}`,
      path: `${catalogPath(kind)}/${list}`,
      ...operation,
      ask: (_, { liveCatalog }) => makes(liveCatalog.current().listed[kind]),
    })
  })
  return [browsing(kind), ...others]
})

export const offerReadings: readonly Reading[] = kinds.map(offerOf)
