import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../lib/errors.ts'
import { idInCapitals } from '../lib/ids.ts'
import { eachOf, type InTurn, inSlices, repeat, type Sliced } from '../lib/scheduling.ts'
import { buildCatalog, type Catalog, type LiveCatalog } from './catalog.ts'
import { byKind, kinds, type ListName, listName, listOf, type Offer } from './offer.ts'
import {
  joined,
  type Listing,
  type OfferSource,
  readAtOf,
  type Snapshot,
  type SnapshotStore,
} from './ports.ts'
import type { Pricing } from './pricing.ts'
import { isOldList, staleParts } from './staleness.ts'

export interface RefreshDeps {
  /** The preferred supplier first. */
  readonly sources: ReadonlyMap<string, OfferSource>
  readonly snapshots: SnapshotStore
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  /** Only one catalog is built at a time, so that none is replaced by one from an older list. */
  readonly inTurn: InTurn
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Called when a new list is on sale, before it is stored. */
  readonly onSale?: () => void
}

type Refreshed = Awaited<ReturnType<typeof refreshCatalog>>

const retryMs = 30_000

/** Never throws: an outage of a supplier or of the database changes nothing on sale, and the health signals show it. */
export async function refreshCatalog(deps: RefreshDeps) {
  const startedAt = deps.now()
  const elapsed = () => deps.now().getTime() - startedAt.getTime()
  try {
    const reading = await readLists(deps, startedAt)
    const { offers, rejected } = reading.whole
    const counts = { offers: offers.length, rejected }
    const reason = refusalOf(reading)
    if (reason !== undefined) {
      return { outcome: 'refused' as const, ...counts, reason, durationMs: elapsed() }
    }
    const snapshot = await inSlices(believedSnapshot(reading, startedAt))
    await deps.inTurn(() => replaceCatalog(deps, snapshot))
    deps.onSale?.()
    // After the swap, so that a list that no catalog can be built from is never stored.
    const notKept = await deps.snapshots.save(snapshot).then(() => undefined, messageOf)
    return {
      outcome: 'loaded' as const,
      offers: counts.offers,
      rejected: snapshot.rejected,
      durationMs: elapsed(),
      /** Lists that were not believed or not read, and why: their earlier offers stay on sale. */
      ...(Object.keys(reading.doubts).length === 0 ? {} : { held: reading.doubts }),
      ...(reading.failed.length === 0 ? {} : { failed: reading.failed }),
      /** Why the list could not be stored for the next start. It is on sale all the same. */
      ...(notKept === undefined ? {} : { notKept }),
    }
  } catch (error) {
    return { outcome: 'failed' as const, reason: messageOf(error), durationMs: elapsed() }
  }
}

/** One load at a time. After a failure it tries again in 30 s, doubling up to `everyMs`. */
export function startRefreshing(
  deps: RefreshDeps,
  report: (refreshed: Refreshed) => void,
  everyMs = 15 * 60_000,
): Promise<void> {
  const task = async () => {
    const refreshed = await refreshCatalog(deps)
    // A load that was cut short by stopping says nothing about the supplier.
    if (!deps.signal.aborted) report(refreshed)
    return refreshed.outcome === 'loaded'
  }
  return repeat(task, { everyMs, retryMs, signal: deps.signal })
}

export async function serveLast(deps: RefreshDeps) {
  try {
    const snapshot = await deps.snapshots.load(createSharing())
    if (snapshot === undefined) return { outcome: 'none' as const }
    await deps.inTurn(() => replaceCatalog(deps, snapshot))
    const { offers, readAt } = snapshot
    return { outcome: 'served' as const, offers: offers.length, readAt }
  } catch (error) {
    return { outcome: 'failed' as const, reason: messageOf(error) }
  }
}

/** Builds the catalog again if its rates, the operator's rules or the age of its lists changed. Returns whether it did. */
export function reprice(deps: RefreshDeps): Promise<boolean> {
  const { inTurn, liveCatalog, pricing } = deps
  // The work before this one may replace the catalog, so it is read only in turn.
  return inTurn(async () => {
    const catalog = liveCatalog.current()
    if (catalog.offers.length === 0) return false
    const isSame =
      catalog.rules === pricing.rules() &&
      isDeepStrictEqual(pricing.rates() ?? catalog.rates, catalog.rates)
    if (isSame && staleParts(pricing, catalog.sizes) === catalog.stale) return false
    await replaceCatalog(deps, catalog)
    return true
  })
}

async function replaceCatalog(
  { liveCatalog, pricing }: RefreshDeps,
  snapshot: Snapshot,
): Promise<void> {
  const { readAt, held, rejected, offers } = snapshot
  const { markupBps, rules, rates, now } = pricing
  const basis = { markupBps, rules: rules(), rates: rates(), now: now() }
  const own = { offers, rejected, readAt, ...(held === undefined ? {} : { held }) }
  liveCatalog.replace(await inSlices(buildCatalog(own, basis, liveCatalog.current())))
}

type Doubts = Readonly<Record<ListName, string>>

interface Reading {
  readonly lists: ReadonlyMap<string, Listing>
  readonly whole: Listing
  readonly last: Catalog
  readonly doubts: Doubts
  readonly failed: readonly string[]
}

/** @throws the first error, if no list could be read */
async function readLists(deps: RefreshDeps, now: Date): Promise<Reading> {
  const { sources, signal } = deps
  const lists = new Map<string, Listing>()
  const faults = new Map<string, unknown>()
  const last = deps.liveCatalog.current()
  // One after the other, because each takes the memory of a page or two.
  for (const [supplier, source] of sources) {
    try {
      lists.set(supplier, await source.list(signal, keepingOf(last)))
    } catch (error) {
      faults.set(supplier, error)
    }
  }
  const [fault] = faults.values()
  if (lists.size === 0) throw fault
  const doubts = [...sources.keys()].flatMap((supplier) => {
    // An offer that is listed twice is one.
    const ids = byKind(() => new Set<string>())
    for (const { kind, id } of lists.get(supplier)?.offers ?? []) ids[kind].add(idInCapitals(id))
    return kinds.flatMap((kind) => {
      const list = listName(supplier, kind)
      if (last.sizes[list] === undefined) return []
      if (faults.has(supplier)) return [[list, messageOf(faults.get(supplier))]]
      const doubt = doubtAbout(list, ids[kind].size, last, now)
      return doubt === undefined ? [] : [[list, doubt]]
    })
  })
  const whole = joined([...lists.values()])
  return { lists, whole, last, doubts: Object.fromEntries(doubts), failed: [...faults.keys()] }
}

/**
 * Half of a list looks like a list: only its size shows it, and only for each kind, because all vouchers may be missing
 * from a list that is long with topups. If the last list is too old to sell by, the new one is believed.
 */
function doubtAbout(list: ListName, size: number, last: Catalog, now: Date): string | undefined {
  const [, kind] = list.split('/')
  const before = last.sizes[list] ?? 0
  if (size * 2 >= before || isOldList(readAtOf(last, list), now)) return undefined
  return `The supplier lists ${size} ${kind} offers after ${before}.`
}

/** So that reading a list again takes hardly more memory. */
function keepingOf({ listedIds }: Catalog): (offer: Offer) => Offer {
  const share = createSharing()
  return (offer) => {
    const previous = listedIds.find(offer.id)
    return previous !== undefined && isDeepStrictEqual(previous, offer) ? previous : share(offer)
  }
}

function refusalOf({ lists, whole, last, doubts }: Reading): string | undefined {
  if (whole.offers.length === 0) return 'The supplier lists nothing that can be sold.'
  const names = [...lists.keys()].flatMap((one) => kinds.map((kind) => listName(one, kind)))
  const isNothingNew = names.every((list) => doubts[list] !== undefined || !last.sizes[list])
  const reasons = names.flatMap((list) => doubts[list] ?? [])
  return isNothingNew && reasons.length > 0 ? reasons.join(' ') : undefined
}

/** With the earlier offers of lists in doubt. Of two ids that differ at most in case, the first counts. */
function* believedSnapshot(reading: Reading, readAt: Date): Sliced<Snapshot> {
  const { whole, last, doubts } = reading
  const { rejected } = whole
  const offers = new Map<string, Offer>()
  let duplicates = 0
  const addFrom = (isHeld: boolean) => (offer: Offer) => {
    if ((doubts[listOf(offer)] !== undefined) !== isHeld) return
    const id = idInCapitals(offer.id)
    if (offers.has(id)) duplicates += 1
    else offers.set(id, offer)
  }
  yield* eachOf(whole.offers, addFrom(false))
  yield* eachOf(last.offers, addFrom(true))
  const { duplicate_offer_id: before = 0 } = rejected
  const held = Object.keys(doubts).map((list) => [list, readAtOf(last, list)])
  return {
    offers: sameAs(last.offers, [...offers.values()]),
    rejected: duplicates > 0 ? { ...rejected, duplicate_offer_id: before + duplicates } : rejected,
    readAt,
    ...(held.length === 0 ? {} : { held: Object.fromEntries(held) }),
  }
}

function sameAs(last: readonly Offer[], offers: readonly Offer[]): readonly Offer[] {
  const isSame = last.length === offers.length && offers.every((offer, at) => offer === last[at])
  return isSame ? last : offers
}

/** Neighbours in a list have most in common, so only so many parts are remembered. */
const maxParts = 20_000

/** Thousands of offers share a note, a price or a list of countries, and each is read as a copy of its own. */
function createSharing(): (offer: Offer) => Offer {
  const parts = new Map<string, unknown>()
  const shared = (value: unknown) => {
    if (typeof value === 'number' || typeof value === 'boolean') return value
    const key = typeof value === 'string' ? `"${value}` : JSON.stringify(value)
    const existing = parts.get(key)
    if (existing !== undefined) return existing
    if (parts.size === maxParts) parts.clear()
    parts.set(key, value)
    return value
  }
  return (offer) => {
    const { id, source, ...others } = offer
    const entries = Object.entries(others).map(([name, value]) => [name, shared(value)])
    return { id, source, ...Object.fromEntries(entries) }
  }
}
