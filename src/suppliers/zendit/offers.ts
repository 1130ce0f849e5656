import { kinds } from '../../catalog/good.ts'
import type { VoucherOffer } from '../../catalog/kinds/voucher.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import { type RecordsWriter, recordsWriter } from '../../catalog/offer-records.ts'
import type { OfferSource, ReadListing } from '../../catalog/ports.ts'
import { idInCapitals } from '../../lib/ids.ts'
import { type BrandBook, createBrandBook, type KnownBrands } from './brands.ts'
import { families, type RejectionReason, type ZenditClient } from './client.ts'
import { pagesOf } from './pages.ts'
import { parseOffer } from './parse-offer.ts'

/**
 * The supplier's whole list: vouchers, topups and eSIM plans, parsed and cleaned. Each page is packed when it
 * arrives, so that reading a long list takes little more memory than the packed list.
 */
export function createZenditOffers(
  client: ZenditClient,
  now: () => Date = () => new Date(),
  known: KnownBrands = new Map(),
): OfferSource {
  return {
    list: (signal) => {
      const brands = createBrandBook(client, now, known)
      return list({ client, brands, signal })
    },
  }
}

interface Reading {
  readonly client: ZenditClient
  readonly brands: BrandBook
  readonly signal: AbortSignal
}

/** What was read so far. */
interface Taken {
  readonly ids: Set<string>
  readonly rejected: Record<string, number>
}

async function list(reading: Reading): Promise<ReadListing> {
  const writer = recordsWriter()
  let taken: Taken = { ids: new Set(), rejected: {} }
  const sizes = { voucher: 0, topup: 0, esim: 0 }
  for (const kind of kinds) {
    const before = taken
    taken = await readKind(reading, kind, { writer, before })
    sizes[kind] = taken.ids.size - before.ids.size
  }
  reading.signal.throwIfAborted()
  return { offers: writer.finish(), sizes, rejected: taken.rejected }
}

interface Into {
  readonly writer: RecordsWriter
  /** What was read of the kinds before this one. */
  readonly before: Taken
}

/**
 * Reads one kind, and once more from its beginning if that fails, as when the list changed meanwhile. A second
 * failure fails the whole load, because half a list is of no use.
 */
async function readKind(reading: Reading, kind: Kind, into: Into): Promise<Taken> {
  const beginning = into.writer.mark()
  try {
    return await readOnce(reading, kind, into)
  } catch (first) {
    reading.signal.throwIfAborted()
    into.writer.backTo(beginning)
    return await readOnce(reading, kind, into).catch((second: unknown) => {
      throw new AggregateError([first, second], `The ${kind} offers: ${messageOf(second)}`)
    })
  }
}

async function readOnce(
  { client, brands, signal }: Reading,
  kind: Kind,
  { writer, before }: Into,
): Promise<Taken> {
  const taken = { ids: new Set(before.ids), rejected: { ...before.rejected } }
  for await (const page of pagesOf(client, `/${families[kind]}/offers`, signal)) {
    const offers = sort(
      page.map((record) => parseOffer(record, kind)),
      taken,
    )
    for (const offer of await described(offers, brands, signal)) writer.add(JSON.stringify(offer))
  }
  return taken
}

/** Keeps what can be sold and counts the rest by reason. Of two ids that differ at most in case, the first counts. */
function sort(parsed: readonly (Offer | RejectionReason)[], { ids, rejected }: Taken): Offer[] {
  const offers: Offer[] = []
  for (const item of parsed) {
    if (typeof item !== 'string' && !ids.has(idInCapitals(item.id))) {
      ids.add(idInCapitals(item.id))
      offers.push(item)
      continue
    }
    const reason: RejectionReason = typeof item === 'string' ? item : 'duplicate_offer_id'
    rejected[reason] = (rejected[reason] ?? 0) + 1
  }
  return offers
}

async function described(
  offers: readonly Offer[],
  brands: BrandBook,
  signal: AbortSignal,
): Promise<readonly Offer[]> {
  const vouchers = offers.filter((offer): offer is VoucherOffer => offer.kind === 'voucher')
  return vouchers.length === 0 ? offers : brands.describe(vouchers, signal)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
