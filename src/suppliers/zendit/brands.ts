import type { VoucherOffer } from '../../catalog/kinds/voucher.ts'
import { lineOf, present, type Raw, recordOf, textOf, type ZenditClient } from './client.ts'

/** What vouchers show of their brand. Both are decoration: no sale depends on them. */
interface BrandInfo {
  readonly description?: string
  readonly image?: string
}

/** Knows the brands of one load, and asks the supplier about each at most once a day. */
export interface BrandBook {
  /** The same offers with description and image, as far as they can be had. Never fails. */
  describe(offers: readonly VoucherOffer[], signal: AbortSignal): Promise<readonly VoucherOffer[]>
}

const keepForMs = 24 * 3_600_000
const callsAtOnce = 8
/** After so many failures in a row, no more brands are asked for until the next load. */
const failuresToStop = 10

interface Known {
  readonly info: BrandInfo
  readonly askedAt: number
}

/** What the supplier said of each brand, and when. It may be kept from one load to the next. */
export type KnownBrands = Map<string, Known>

/** @param known is filled with what is learned */
export function createBrandBook(
  client: ZenditClient,
  now: () => Date,
  known: KnownBrands,
): BrandBook {
  const ask = createAsking()
  return {
    async describe(offers, signal) {
      const oldest = now().getTime() - keepForMs
      const brands = new Set(offers.map((offer) => offer.brand))
      const toAsk = [...brands].filter((brand) => !((known.get(brand)?.askedAt ?? 0) > oldest))
      await ask(toAsk, async (brand) => {
        const info = await readBrand(client, brand, signal)
        if (info === undefined) return false
        known.set(brand, { info, askedAt: now().getTime() })
        return true
      })
      // If the supplier does not answer today, what it said before is still used.
      return offers.map((offer) => ({ ...offer, ...known.get(offer.brand)?.info }))
    },
  }
}

/** @returns whether the supplier answered */
type Ask = (brand: string) => Promise<boolean>

/** Asks for a few brands at once, until all are asked or `failuresToStop` calls in a row have failed. */
function createAsking() {
  let failures = 0
  const askThrough = async (queue: Iterable<string>, ask: Ask) => {
    for (const brand of queue) {
      if (failures >= failuresToStop) return
      failures = (await ask(brand)) ? 0 : failures + 1
    }
  }
  return async (brands: readonly string[], ask: Ask) => {
    const queue = brands.values()
    await Promise.all(Array.from({ length: callsAtOnce }, () => askThrough(queue, ask)))
  }
}

/** What the supplier says of a brand; empty if it does not know the brand; undefined if the call failed. */
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
