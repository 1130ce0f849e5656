import { kinds } from '../../catalog/good.ts'
import type { VoucherOffer } from '../../catalog/kinds/voucher.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import type { Listing, OfferSource } from '../../catalog/ports.ts'
import { messageOf } from '../../lib/error-text.ts'
import { idInCapitals } from '../../lib/ids.ts'
import { eachOf, inSlices } from '../../lib/slices.ts'
import { type BrandBook, createBrandBook, type KnownBrands } from './brands.ts'
import { families, type RejectionReason, type ZenditClient } from './client.ts'
import { pagesOf } from './pages.ts'
import { parseOffer } from './parse-offer.ts'

/** The supplier's whole list: vouchers, topups and eSIM plans, parsed and cleaned page by page. */
export function createZenditOffers(
  client: ZenditClient,
  now: () => Date = () => new Date(),
): OfferSource {
  const known: KnownBrands = new Map()
  return {
    list(signal, keep = (offer) => offer) {
      const brands = createBrandBook(client, now, known)
      return list({ client, brands, keep, signal })
    },
  }
}

interface Reading {
  readonly client: ZenditClient
  readonly brands: BrandBook
  readonly keep: (offer: Offer) => Offer
  readonly signal: AbortSignal
}

/** What was read so far. */
interface Taken {
  readonly ids: ReadonlySet<string>
  readonly rejected: Readonly<Record<string, number>>
}

async function list(reading: Reading): Promise<Listing> {
  const offers: Offer[] = []
  let taken: Taken = { ids: new Set(), rejected: {} }
  for (const kind of kinds) {
    const own = await readKind(reading, kind, taken)
    for (const offer of own.offers) offers.push(offer)
    taken = own
  }
  reading.signal.throwIfAborted()
  return { offers, rejected: taken.rejected }
}

/**
 * Reads one kind, and once more from its beginning if that fails, as when the list changed meanwhile. A second
 * failure fails the whole load, because half a list is of no use.
 */
async function readKind(reading: Reading, kind: Kind, before: Taken): Promise<Taken & Listing> {
  try {
    return await readOnce(reading, kind, before)
  } catch (first) {
    reading.signal.throwIfAborted()
    return await readOnce(reading, kind, before).catch((second: unknown) => {
      throw new AggregateError([first, second], `The ${kind} offers: ${messageOf(second)}`)
    })
  }
}

async function readOnce(
  { client, brands, keep, signal }: Reading,
  kind: Kind,
  before: Taken,
): Promise<Taken & Listing> {
  const ids = new Set(before.ids)
  const rejected: Record<string, number> = { ...before.rejected }
  const offers: Offer[] = []
  for await (const page of pagesOf(client, `/${families[kind]}/offers`, signal)) {
    const sold: Offer[] = []
    const sort = (record: unknown) => {
      const offer = firstOf(parseOffer(record, kind), ids)
      if (typeof offer === 'string') rejected[offer] = (rejected[offer] ?? 0) + 1
      else sold.push(offer)
    }
    await inSlices(eachOf(page, sort))
    const whole = await described(sold, brands, signal)
    await inSlices(eachOf(whole, (offer) => offers.push(keep(offer))))
  }
  return { offers, ids, rejected }
}

/** Of two ids that differ at most in case, the first counts. */
function firstOf(parsed: Offer | RejectionReason, ids: Set<string>): Offer | RejectionReason {
  if (typeof parsed === 'string') return parsed
  const id = idInCapitals(parsed.id)
  if (ids.has(id)) return 'duplicate_offer_id'
  ids.add(id)
  return parsed
}

async function described(
  offers: readonly Offer[],
  brands: BrandBook,
  signal: AbortSignal,
): Promise<readonly Offer[]> {
  const vouchers = offers.filter((offer): offer is VoucherOffer => offer.kind === 'voucher')
  return vouchers.length === 0 ? offers : brands.describe(vouchers, signal)
}
