import { kinds } from '../../../goods/good.ts'
import type { Kind, Offer } from '../../../goods/offer.ts'
import type { Listing, OfferSource } from '../../../goods/ports.ts'
import type { OfferId } from '../../../primitives/ids.ts'
import { type BrandBook, createBrandBook, type KnownBrands } from './brands.ts'
import type { ZenditClient } from './client.ts'
import type { Dirt } from './dirt.ts'
import { families } from './families.ts'
import { pagesOf } from './pages.ts'
import { parseOffer } from './parse-offer.ts'

/** The supplier's whole list: vouchers, topups and eSIM plans, parsed and cleaned. */
export function createZenditOffers(
  client: ZenditClient,
  now: () => Date = () => new Date(),
  known: KnownBrands = new Map(),
): OfferSource {
  const brands = createBrandBook(client, now, known)
  return { list: (signal) => list(client, brands, signal) }
}

type Parsed = readonly (Offer | Dirt)[]

async function list(
  client: ZenditClient,
  brands: BrandBook,
  signal: AbortSignal,
): Promise<Listing> {
  const parsed: (Offer | Dirt)[] = []
  for (const kind of kinds) {
    for (const page of await readKind(client, kind, signal)) parsed.push(...page)
  }
  const { offers, setAside } = sort(parsed)
  const vouchers = offers.filter((offer) => offer.kind === 'voucher')
  const others = offers.filter((offer) => offer.kind !== 'voucher')
  const described = await brands.describe(vouchers, signal)
  signal.throwIfAborted()
  return { offers: [...described, ...others], setAside }
}

/**
 * Reads one kind, and once more from its beginning when the list moved under our hands. A second
 * failure is the load's: half a list is none.
 */
async function readKind(
  client: ZenditClient,
  kind: Kind,
  signal: AbortSignal,
): Promise<readonly Parsed[]> {
  try {
    return await readOnce(client, kind, signal)
  } catch (first) {
    signal.throwIfAborted()
    return await readOnce(client, kind, signal).catch((second: unknown) => {
      throw new AggregateError([first, second], `The ${kind} offers: ${messageOf(second)}`)
    })
  }
}

async function readOnce(
  client: ZenditClient,
  kind: Kind,
  signal: AbortSignal,
): Promise<readonly Parsed[]> {
  const parsed: Parsed[] = []
  for await (const page of pagesOf(client, `/${families[kind]}/offers`, signal)) {
    parsed.push(page.map((record) => parseOffer(record, kind)))
  }
  return parsed
}

/** Parts what can be sold from what is set aside. Of two offers with one id, the first counts. */
function sort(parsed: Parsed): { offers: Offer[]; setAside: Record<string, number> } {
  const byId = new Map<OfferId, Offer>()
  const setAside: Record<string, number> = {}
  for (const item of parsed) {
    if (typeof item !== 'string' && !byId.has(item.id)) {
      byId.set(item.id, item)
      continue
    }
    const dirt: Dirt = typeof item === 'string' ? item : 'duplicate_offer_id'
    setAside[dirt] = (setAside[dirt] ?? 0) + 1
  }
  return { offers: [...byId.values()], setAside }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
