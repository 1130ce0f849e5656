import type { VoucherOffer } from '../../catalog/kinds/voucher.ts'
import { type Kind, kinds, type Offer } from '../../catalog/offer.ts'
import type { Listing, OfferSource } from '../../catalog/ports.ts'
import { messageOf } from '../../lib/errors.ts'
import { idInCapitals } from '../../lib/ids.ts'
import { eachOf, inSlices } from '../../lib/scheduling.ts'
import {
  families,
  lineOf,
  pagesOf,
  present,
  type Raw,
  type RejectionReason,
  recordOf,
  textOf,
  type ZenditClient,
} from './client.ts'
import { parseOffer } from './parse-offer.ts'

export function createZenditOffers(
  client: ZenditClient,
  now: () => Date = () => new Date(),
): OfferSource {
  const brandCache: BrandCache = new Map()
  return {
    list(signal, keep = (offer) => offer) {
      const brands = createBrandBook(client, now, brandCache)
      return listOffers({ client, brands, keep, signal })
    },
  }
}

interface Reading {
  readonly client: ZenditClient
  readonly brands: BrandBook
  readonly keep: (offer: Offer) => Offer
  readonly signal: AbortSignal
}

interface Taken {
  readonly ids: ReadonlySet<string>
  readonly rejected: Readonly<Record<string, number>>
}

async function listOffers(reading: Reading): Promise<Listing> {
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

/** Reads once more if that fails, as when the list changed meanwhile; half a list is of no use. */
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
    const vouchers = sold.filter((offer): offer is VoucherOffer => offer.kind === 'voucher')
    const whole = vouchers.length === 0 ? sold : await brands.describe(vouchers, signal)
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

/** Decoration: no sale depends on it. */
interface BrandInfo {
  readonly description?: string
  readonly image?: string
}

const keepForMs = 24 * 3_600_000
const callsAtOnce = 8
/** After so many failures in a row, no more brands are asked for until the next load. */
const failuresToStop = 10

interface CachedBrand {
  readonly info: BrandInfo
  readonly readAt: number
}

type BrandCache = Map<string, CachedBrand>

type BrandBook = ReturnType<typeof createBrandBook>

/** Asks the supplier about each brand at most once a day. */
function createBrandBook(client: ZenditClient, now: () => Date, brandCache: BrandCache) {
  const readEach = createBrandReader()
  return {
    /** Never fails. */
    async describe(offers: readonly VoucherOffer[], signal: AbortSignal) {
      const oldest = now().getTime() - keepForMs
      const brands = new Set(offers.map((offer) => offer.brand))
      const outdated = [...brands].filter(
        (brand) => !((brandCache.get(brand)?.readAt ?? 0) > oldest),
      )
      await readEach(outdated, async (brand) => {
        const info = await readBrand(client, brand, signal)
        if (info === undefined) return false
        brandCache.set(brand, { info, readAt: now().getTime() })
        return true
      })
      // If the supplier does not answer today, what it said before is still used.
      return offers.map((offer) => ({ ...offer, ...brandCache.get(offer.brand)?.info }))
    },
  }
}

type ReadOne = (brand: string) => Promise<boolean>

function createBrandReader() {
  let failures = 0
  const readThrough = async (queue: Iterable<string>, readOne: ReadOne) => {
    for (const brand of queue) {
      if (failures >= failuresToStop) return
      failures = (await readOne(brand)) ? 0 : failures + 1
    }
  }
  return async (brands: readonly string[], readOne: ReadOne) => {
    const queue = brands.values()
    await Promise.all(Array.from({ length: callsAtOnce }, () => readThrough(queue, readOne)))
  }
}

/** Empty if it does not know the brand; undefined if the call failed. */
async function readBrand(
  client: ZenditClient,
  brand: string,
  signal: AbortSignal,
): Promise<BrandInfo | undefined> {
  // A key of dots would be read as a step up in the path.
  if (/^\.+$/.test(brand)) return {}
  const answer = await client.get(`/brands/${encodeURIComponent(brand)}`, {
    signal,
    maxBytes: 1024 * 1024,
  })
  if (answer.outcome === 'unknown') return undefined
  if (answer.status === 404) return {}
  const raw = answer.status === 200 ? recordOf(answer.body) : undefined
  return raw === undefined
    ? undefined
    : present({ description: textOf(raw['description'], 5_000), image: imageOf(raw) })
}

function imageOf(raw: Raw): string | undefined {
  const candidates = [raw['brandGiftImage'], raw['brandBigImage'], raw['brandLogo']]
  const links = candidates.map((candidate) => lineOf(candidate, 2_000) ?? '')
  return links.find((link) => /^https?:\/\//.test(link) && URL.canParse(link))
}
