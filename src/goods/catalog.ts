import { createHash } from 'node:crypto'
import type { OfferId } from '../primitives/ids.ts'
import { fold } from '../primitives/text.ts'
import { kinds } from './good.ts'
import type { Kind, Offer } from './offer.ts'
import type { RateTable, Snapshot } from './ports.ts'
import { inUsd, type Pricing, retailOf } from './pricing.ts'
import { type SearchIndex, type Shelved, searchIndexOf } from './search/search-index.ts'

/** One immutable state of everything on sale. A refresh makes a new one and swaps it in whole. */
export interface Catalog {
  /** Changes when, and only when, the content, its order or what of it is sold changes. */
  readonly version: string
  readonly readAt: Date
  readonly byId: ReadonlyMap<OfferId, Offer>
  readonly setAside: Readonly<Record<string, number>>
  /** How offers of each kind are found, in their published order. */
  readonly index: Readonly<Record<Kind, SearchIndex>>
}

/** Holds the catalog of now. Readers take `current()` once per request and keep to it. */
export interface Shelf {
  current(): Catalog
  replace(catalog: Catalog): void
}

/** What is on sale in numbers, for whoever started the store. */
export interface Stock {
  readonly offers: number
  readonly setAside: number
  readonly readAt: Date
}

export function stockOf(shelf: Pick<Shelf, 'current'>): Stock {
  const { byId, setAside, readAt } = shelf.current()
  const aside = Object.values(setAside).reduce((sum, count) => sum + count, 0)
  return { offers: byId.size, setAside: aside, readAt }
}

/** Holds `initial`, or a catalog without offers until the first `replace`. */
export function createShelf(initial?: Catalog): Shelf {
  let catalog = initial ?? catalogOf([], { readAt: new Date(0), setAside: {} }, undefined)
  return {
    current: () => catalog,
    replace: (next) => {
      catalog = next
    },
  }
}

/**
 * Makes a catalog of what a supplier lists.
 *
 * The order of offers and what of them is sold depend on exchange rates too, so a catalog is built
 * again when those change. Of two offers with one id the later one counts.
 */
export function buildCatalog(snapshot: Snapshot, pricing: Pricing): Catalog {
  const rates = pricing.rates()
  const latest = new Map(snapshot.offers.map((offer) => [offer.id, offer]))
  const shelved = [...latest.values()].map((offer) => ({
    offer,
    sold: retailOf(offer, pricing).type !== 'NOT_SOLD',
  }))
  return catalogOf(inPublishedOrder(shelved, rates), snapshot, rates)
}

function catalogOf(
  shelved: readonly Shelved[],
  { readAt, setAside }: Pick<Snapshot, 'readAt' | 'setAside'>,
  rates: RateTable | undefined,
): Catalog {
  const entries = kinds.map((kind): [Kind, SearchIndex] => [
    kind,
    searchIndexOf(
      shelved.filter(({ offer }) => offer.kind === kind),
      rates,
    ),
  ])
  return {
    version: versionOf(shelved),
    readAt,
    setAside,
    byId: new Map(shelved.map(({ offer }) => [offer.id, offer])),
    index: Object.fromEntries(entries) as Record<Kind, SearchIndex>,
  }
}

/** By brandName, then price in USD, then offerId (decisions 2). What has no USD price comes last. */
function inPublishedOrder(shelved: readonly Shelved[], rates: RateTable | undefined): Shelved[] {
  const keyed = shelved.map((item) => {
    const { brandName, price, id } = item.offer
    const least = price.type === 'FIXED' ? price.fixed : price.min
    const usd = inUsd(least, price, rates) ?? Number.POSITIVE_INFINITY
    return { item, key: [fold(brandName), brandName, usd, id] as const }
  })
  return keyed.sort((one, other) => compareKeys(one.key, other.key)).map(({ item }) => item)
}

type Key = readonly [string, string, number, string]

function compareKeys(one: Key, other: Key): number {
  for (const [at, value] of one.entries()) {
    const against = other[at] as typeof value
    if (value !== against) return value < against ? -1 : 1
  }
  return 0
}

function versionOf(shelved: readonly Shelved[]): string {
  const hash = createHash('sha256')
  for (const item of shelved) hash.update(JSON.stringify(item, withSortedKeys))
  return hash.digest('base64url').slice(0, 16)
}

/** A database may give an offer back with its fields in another order; it is the same offer. */
function withSortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
