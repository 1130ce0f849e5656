import { hash } from 'node:crypto'
import { type Usdc, usdc } from '../../lib/money.ts'
import { byKind } from '../good.ts'
import { type Kind, type ListName, listOf, type Offer } from '../offer.ts'
import { type OfferIds, packIds } from '../offer-ids.ts'
import { type RateTable, type ReadTimes, readAtOf } from '../ports.ts'
import { lowestCharge, type Pricing } from '../pricing.ts'
import { type Publish, type ReadyJson, readyWriter } from '../ready-json.ts'
import type { PackedIndex, PackedSoldIndex } from '../search/search-index.ts'
import { staleParts } from '../staleness.ts'
import { growing, growingFloats } from './growing.ts'
import { indexRows } from './pack-index.ts'
import { publishedOrder } from './published-order.ts'

/** What a catalog depends on besides the offers: for their order, their prices and which of them are sold. */
export interface Basis {
  readonly markupBps: number
  readonly rates: RateTable | undefined
  readonly times: ReadTimes
  readonly now: Date
}

/** Prices as they are at one moment. */
export function pricingOn({ markupBps, rates, times, now }: Basis): Pricing {
  const readAt = (list: ListName) => readAtOf(times, list)
  return { markupBps, rates: () => rates, readAt, now: () => now }
}

/** A catalog as the process that builds it sends it to the one that answers. */
export interface PackedCatalog {
  readonly version: string
  readonly ids: OfferIds
  readonly ready: ReadyJson
  /** How many offers each list has. */
  readonly sizes: Readonly<Record<ListName, number>>
  /** Everything that suppliers list. */
  readonly listed: Readonly<Record<Kind, PackedIndex>>
  /** The offers that are sold. If all of a kind are, the same object as in `listed`. */
  readonly sold: Readonly<Record<Kind, PackedSoldIndex>>
  /** The lowest price of each kind that is sold. */
  readonly lowest: Readonly<Partial<Record<Kind, Usdc>>>
  readonly rates: RateTable | undefined
  /** The lists and rates that were already too old to sell by when it was built (`staleParts`). */
  readonly stale: string
}

/**
 * Builds a catalog from the listed offers.
 *
 * The order of the offers and which of them are sold depend on exchange rates too, so a catalog is built
 * again when those change. Offers are read one at a time and not kept, so building takes little more memory
 * than its result.
 */
export function packCatalog(
  offers: Iterable<readonly [offer: Offer, json: string]>,
  basis: Basis,
  publish: Publish,
): PackedCatalog {
  const order = publishedOrder(basis.rates)
  const index = indexRows(basis.rates)
  const ready = readyWriter(publish)
  const pricing = pricingOn(basis)
  const summary = createSummary()
  for (const [offer, json] of offers) {
    const asked = lowestCharge(offer, pricing)
    order.add(offer, asked)
    index.add(offer, asked)
    summary.add(offer, asked, `${json}\n${ready.add(offer)}`)
  }
  const rows = order.rows()
  const ofKind = (kind: Kind) => rows.filter((row) => summary.kindOf(row) === kind)
  const sold = byKind((kind) => index.packSold(ofKind(kind).filter(summary.isSold)))
  return {
    version: summary.version(rows),
    sizes: summary.sizes,
    ids: packIds(order.ids, rows),
    ready: ready.finish(),
    listed: byKind((kind) => {
      const listed = ofKind(kind)
      return listed.length === sold[kind].rows.length ? sold[kind] : index.pack(listed)
    }),
    sold,
    lowest: summary.lowest(rows.filter(summary.isSold)),
    rates: basis.rates,
    stale: staleParts(pricing, summary.sizes),
  }
}

/** The price of each offer, and the digests that make the version of a catalog. */
function createSummary() {
  const kindsOf: Kind[] = []
  /** In atomic USDC, where every price is far below 2^53; NaN if the offer is not sold. */
  const costs = growingFloats()
  const digests = [growing(), growing(), growing()] as const
  const sizes: Record<ListName, number> = {}
  const isSold = (row: number) => !Number.isNaN(costs.at(row))
  return {
    /**
     * @param asked its lowest price; undefined if it is not sold
     * @param text all that is stored and published of the offer
     */
    add(offer: Offer, asked: Usdc | undefined, text: string): void {
      kindsOf.push(offer.kind)
      const list = listOf(offer)
      sizes[list] = (sizes[list] ?? 0) + 1
      costs.push(Number(asked ?? Number.NaN))
      const digest = hash('sha256', text, 'buffer')
      for (const [at, part] of digests.entries()) part.push(digest.readUInt32LE(4 * at))
    },
    sizes,
    kindOf: (row: number) => kindsOf[row],
    isSold,
    /** Changes if, and only if, an offer, its price, the order or the set of sold offers changes. */
    version(rows: Uint32Array): string {
      const facts = new Uint32Array(rows.length * 4)
      for (const [at, row] of rows.entries()) {
        facts.set([...digests.map((part) => part.at(row)), isSold(row) ? 1 : 0], at * 4)
      }
      return hash('sha256', facts, 'base64url').slice(0, 16)
    },
    /** @param rows of the sold offers */
    lowest(rows: Uint32Array): Partial<Record<Kind, Usdc>> {
      const lowest: Partial<Record<Kind, number>> = {}
      for (const row of rows) {
        const kind = kindsOf[row] as Kind
        lowest[kind] = Math.min(lowest[kind] ?? Number.POSITIVE_INFINITY, costs.at(row))
      }
      const amounts = Object.entries(lowest).map(([kind, cost]) => [kind, usdc(BigInt(cost))])
      return Object.fromEntries(amounts)
    },
  }
}
