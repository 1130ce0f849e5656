import type { VoucherOffer } from '../../catalog/kinds/voucher.ts'
import { type Kind, kinds, type Offer } from '../../catalog/offer.ts'
import { joined, type Listing, type OfferSource } from '../../catalog/ports.ts'
import { messageOf } from '../../lib/errors.ts'
import { eachOf, inSlices } from '../../lib/scheduling.ts'
import {
  families,
  lineOf,
  pagesOf,
  present,
  type Raw,
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
    async list(signal, keep = (offer) => offer) {
      const describe = createBrandBook(client, now, brandCache)
      const listings: Listing[] = []
      for (const kind of kinds) {
        listings.push(await readKind({ client, describe, keep, signal }, kind))
      }
      signal.throwIfAborted()
      return joined(listings)
    },
  }
}

interface Reading {
  readonly client: ZenditClient
  readonly describe: ReturnType<typeof createBrandBook>
  readonly keep: (offer: Offer) => Offer
  readonly signal: AbortSignal
}

/** Reads once more if that fails, as when the list changed meanwhile; half a list is of no use. */
async function readKind(reading: Reading, kind: Kind): Promise<Listing> {
  try {
    return await readOnce(reading, kind)
  } catch (first) {
    reading.signal.throwIfAborted()
    return await readOnce(reading, kind).catch((second: unknown) => {
      throw new AggregateError([first, second], `The ${kind} offers: ${messageOf(second)}`)
    })
  }
}

async function readOnce({ client, describe, keep, signal }: Reading, kind: Kind): Promise<Listing> {
  const rejected: Record<string, number> = {}
  const offers: Offer[] = []
  for await (const page of pagesOf(client, `/${families[kind]}/offers`, signal)) {
    const sold: Offer[] = []
    const sort = (record: unknown) => {
      const offer = parseOffer(record, kind)
      if (typeof offer === 'string') rejected[offer] = (rejected[offer] ?? 0) + 1
      else sold.push(offer)
    }
    await inSlices(eachOf(page, sort))
    const vouchers = sold.filter((offer): offer is VoucherOffer => offer.kind === 'voucher')
    const whole = vouchers.length === 0 ? sold : await describe(vouchers, signal)
    await inSlices(eachOf(whole, (offer) => offers.push(keep(offer))))
  }
  return { offers, rejected }
}

/** Decoration: no sale depends on it. */
interface BrandInfo {
  readonly description?: string
  readonly image?: string
}

type BrandCache = Map<string, { readonly info: BrandInfo; readonly readAt: number }>

const keepForMs = 24 * 3_600_000
const callsAtOnce = 8
/** After so many failures in a row, no more brands are asked for until the next load. */
const failuresToStop = 10

/** Asks the supplier about each brand at most once a day, and never fails. */
function createBrandBook(client: ZenditClient, now: () => Date, brandCache: BrandCache) {
  let failures = 0
  const readThrough = async (queue: Iterable<string>, signal: AbortSignal) => {
    for (const brand of queue) {
      if (failures >= failuresToStop) return
      const info = await readBrand(client, brand, signal)
      failures += 1
      if (info === undefined) continue
      failures = 0
      brandCache.set(brand, { info, readAt: now().getTime() })
    }
  }
  return async (offers: readonly VoucherOffer[], signal: AbortSignal) => {
    const oldest = now().getTime() - keepForMs
    const brands = new Set(offers.map((offer) => offer.brand))
    const outdated = [...brands].filter((brand) => !((brandCache.get(brand)?.readAt ?? 0) > oldest))
    const queue = outdated.values()
    await Promise.all(Array.from({ length: callsAtOnce }, () => readThrough(queue, signal)))
    // If the supplier does not answer today, what it said before is still used.
    return offers.map((offer) => ({ ...offer, ...brandCache.get(offer.brand)?.info }))
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
