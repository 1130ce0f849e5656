import { makeCatalog } from '../sandbox/supplier/catalog/catalog.ts'
import type { Offer } from '../src/catalog/offer.ts'
import type { Pricing } from '../src/catalog/pricing.ts'
import type { Filters } from '../src/catalog/search/filters.ts'
import { buildIndex } from '../src/catalog/search/search-index.ts'
import { noRules } from '../src/catalog/selling-rules.ts'
import { atOnce } from '../src/lib/scheduling.ts'
import { parseOffer } from '../src/suppliers/zendit/parse-offer.ts'
import { seeded } from '../test/model/random.ts'
import { openSqlite } from './sqlite.ts'
import { type Figure, figure, median, quantile, timesOf } from './table.ts'

/** With the most milliseconds for half of the searches, and for 99 of 100. */
const sizes = [
  { size: 12_000, p50: 0.15, p99: 2 },
  { size: 200_000, p50: 1, p99: 10 },
]
const rounds = 3
const queries = 350
const page = { limit: 20, offset: 0 }

/**
 * Searches of topups with exact total, a page of 20 and four facets, in this process and in SQLite FTS5, in
 * turn. Few answers are small, because the values are those of offers.
 */
export async function measureSearch(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const bars of sizes) figures.push(...(await measureSize(bars)))
  return figures
}

async function measureSize({ size, p50, p99 }: (typeof sizes)[number]): Promise<Figure[]> {
  const offers = topups(size)
  const index = atOnce(buildIndex(offers, pricing))
  const sqlite = openSqlite(offers)
  const ours: number[] = []
  const theirs: number[] = []
  // Other queries in each round, because the index keeps lists of values. The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    const asked = queriesFor(offers, round)
    const own = await timesOf(asked, (filters) => {
      index.listed.search(filters, page)
      index.listed.facets(filters)
    })
    const other = await timesOf(asked, sqlite.search)
    if (round === 0) continue
    ours.push(...own)
    theirs.push(...other)
  }
  // Texts tolerate typos here and not in SQLite, so only their totals may differ.
  const differing = queriesFor(offers, 0).find(
    (filters) => !filters.text && sqlite.search(filters) !== index.listed.count(filters),
  )
  if (differing) throw new Error(`Another total: ${JSON.stringify(differing)}`)
  sqlite.close()
  const of = `${offers.length.toLocaleString('en-US')} topups`
  return [
    figure(`Search with facets, ${of}, p50`, median(ours), 'ms', { most: p50 }),
    figure(`Search with facets, ${of}, p99`, quantile(ours, 0.99), 'ms', { most: p99 }),
    figure(`SQLite FTS5 with facets, ${of}, p50`, median(theirs), 'ms'),
    figure(`SQLite FTS5 with facets, ${of}, p99`, quantile(theirs, 0.99), 'ms'),
    figure('SQLite against the store, p50', median(theirs) / median(ours), 'times'),
  ]
}

const now = new Date()
const pricing: Pricing = {
  markupBps: 0,
  rules: () => noRules,
  rates: () => undefined,
  readAt: () => now,
  now: () => now,
}

/** The least share of topups in a list of the sandbox's supplier. */
const topupShare = 0.34

/** Topups as the sandbox's supplier lists them. */
function topups(count: number): Offer[] {
  return makeCatalog(Math.ceil(count / topupShare))
    .lists.topups.map((record) => parseOffer(record, 'topup'))
    .filter((read) => typeof read === 'object')
    .slice(0, count)
}

/** Queries of seven forms in turn, with values of offers. */
function queriesFor(offers: readonly Offer[], seed: number): Filters[] {
  const random = seeded(seed)
  return Array.from({ length: queries }, (_, at): Filters => {
    const { country, brandName, subTypes, regions } = offers[
      Math.floor(random() * offers.length)
    ] as Offer
    const [subType] = subTypes
    const text = brandName.slice(0, 3 + Math.floor(random() * 5)).trim()
    const forms: readonly Filters[] = [
      { country },
      { country, subType },
      { brand: brandName },
      { regions: regions.slice(0, 1), subType },
      { text },
      { text, country },
      {},
    ]
    return forms[at % forms.length] ?? {}
  })
}
