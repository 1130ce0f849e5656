import { isDeepStrictEqual } from 'node:util'
import type { InTurn } from '../lib/in-turn.ts'
import { repeat } from '../lib/repeat.ts'
import type { Catalog, LiveCatalog } from './catalog.ts'
import { kinds } from './good.ts'
import type { Kind } from './offer.ts'
import {
  type CatalogWorker,
  type ReadListing,
  readAtOf,
  type Snapshot,
  type SnapshotStore,
} from './ports.ts'
import type { Pricing } from './pricing.ts'
import { isOldList, staleParts } from './staleness.ts'

export interface RefreshDeps {
  readonly catalogWorker: CatalogWorker
  readonly snapshots: SnapshotStore
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  /** One catalog is made at a time, so that none is replaced by one of an older list. */
  readonly inTurn: InTurn
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** What came of reading the supplier's list once. */
export type Refreshed =
  | {
      readonly outcome: 'loaded'
      readonly offers: number
      readonly rejected: Readonly<Record<string, number>>
      readonly durationMs: number
      /** Kinds of which the list was not believed, and why: their earlier offers stay on sale. */
      readonly held?: Readonly<Partial<Record<Kind, string>>>
      /** Why the list was not kept for the next start, when it was not. It is on sale all the same. */
      readonly notKept?: string
    }
  /** The list was read but is not believed; what was on sale before stays on sale. */
  | {
      readonly outcome: 'refused'
      readonly offers: number
      readonly rejected: Readonly<Record<string, number>>
      readonly reason: string
      readonly durationMs: number
    }
  /** The list could not be read; what was on sale before stays on sale. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly durationMs: number }

/** What came of putting the last good list back on sale. */
export type Served =
  | { readonly outcome: 'served'; readonly offers: number; readonly readAt: Date }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'failed'; readonly reason: string }

const retryMs = 30_000

/**
 * Reads the supplier's list and puts it on sale whole. Never throws: a supplier outage or a
 * database hiccup changes nothing on sale, and is for the health signal to show.
 */
export async function refreshCatalog(deps: RefreshDeps): Promise<Refreshed> {
  const startedAt = deps.now()
  const elapsed = () => deps.now().getTime() - startedAt.getTime()
  try {
    const listing = await deps.catalogWorker.read(deps.signal)
    const { rejected } = listing
    const last = deps.liveCatalog.current()
    const doubts = doubtsAbout(listing, last, startedAt)
    const told = { offers: listing.offers.count, rejected }
    const reason = refusalOf(listing, last, doubts)
    if (reason !== undefined) return { outcome: 'refused', ...told, reason, durationMs: elapsed() }
    const snapshot = await believed(deps, { listing, last, doubts, readAt: startedAt })
    await deps.inTurn(() => put(deps, snapshot))
    const notKept = await keep(deps.snapshots, snapshot)
    return {
      outcome: 'loaded',
      ...told,
      durationMs: elapsed(),
      ...(Object.keys(doubts).length === 0 ? {} : { held: doubts }),
      ...(notKept === undefined ? {} : { notKept }),
    }
  } catch (error) {
    return { outcome: 'failed', reason: messageOf(error), durationMs: elapsed() }
  }
}

/**
 * Refreshes the catalog now and then every `everyMs`, one load at a time, until `deps.signal` stops it. After a
 * failure it tries again in 30 s, doubling up to `everyMs`.
 *
 * @param report told about every load, the good ones too
 * @returns ends when the loop has ended
 */
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

/** Puts the last good list on sale, so that a restart serves before the supplier answers. */
export async function serveLast(deps: RefreshDeps): Promise<Served> {
  try {
    const snapshot = await deps.snapshots.load()
    if (snapshot === undefined) return { outcome: 'none' }
    await deps.inTurn(() => put(deps, snapshot))
    return { outcome: 'served', offers: snapshot.offers.count, readAt: snapshot.readAt }
  } catch (error) {
    return { outcome: 'failed', reason: messageOf(error) }
  }
}

/**
 * Builds the catalog of now again when the exchange rates are other ones than it was built with, or
 * when they or a list have become too old to sell by: prices and order hang on them.
 */
export function reprice(deps: RefreshDeps): Promise<void> {
  const { inTurn, liveCatalog, pricing } = deps
  // What is looked at may be replaced by the work before it, so it is looked at in turn.
  return inTurn(async () => {
    const catalog = liveCatalog.current()
    if (catalog.size === 0) return
    const isSame = isDeepStrictEqual(pricing.rates() ?? catalog.rates, catalog.rates)
    if (isSame && staleParts(pricing) === catalog.stale) return
    const { records, readAt, held = {}, rejected } = catalog
    await put(deps, { offers: records, readAt, held, rejected })
  })
}

/** Makes a catalog and swaps it in, in one step; the one before it is of no use any more. */
async function put(
  { catalogWorker, liveCatalog, pricing, signal }: RefreshDeps,
  snapshot: Snapshot,
): Promise<void> {
  const [voucher, topup, esim] = kinds.map((kind) => readAtOf(snapshot, kind)) as [Date, Date, Date]
  const readAt = { voucher, topup, esim }
  const { markupBps } = pricing
  const basis = { markupBps, rates: pricing.rates(), readAt, now: pricing.now() }
  const catalog = await catalogWorker.build(snapshot, basis, signal)
  const last = liveCatalog.current()
  liveCatalog.replace(catalog)
  // No search ever waits, so none is under way in it.
  last.retire()
}

type Doubts = Readonly<Partial<Record<Kind, string>>>

/**
 * Half of a list looks like a list. Only its size, against the last one, gives it away, and that kind
 * by kind: vouchers may vanish whole from a list that topups make long. A last list that is too old
 * to sell by vouches for nothing, so what the supplier has really dropped is believed then.
 */
function doubtsAbout({ sizes }: ReadListing, last: Catalog, now: Date): Doubts {
  const doubted = kinds.filter(
    (kind) => sizes[kind] * 2 < last.listed[kind].size && !isOldList(readAtOf(last, kind), now),
  )
  const told = doubted.map((kind) => [kind, doubtOf(kind, sizes[kind], last)])
  return Object.fromEntries(told)
}

function doubtOf(kind: Kind, size: number, { listed }: Catalog): string {
  return `The supplier lists ${size} ${kind} offers after ${listed[kind].size}.`
}

/** Why nothing of a list is believed. */
function refusalOf({ offers }: ReadListing, { listed }: Catalog, doubts: Doubts) {
  if (offers.count === 0) return 'The supplier lists nothing that can be sold.'
  const isNothingNew = kinds.every((kind) => doubts[kind] !== undefined || listed[kind].size === 0)
  const reasons = Object.values(doubts)
  return isNothingNew && reasons.length > 0 ? reasons.join(' ') : undefined
}

interface Reading {
  readonly listing: ReadListing
  readonly last: Catalog
  readonly doubts: Doubts
  readonly readAt: Date
}

/** The new list, but with the earlier offers of every kind that is in doubt. */
async function believed(
  { catalogWorker, signal }: RefreshDeps,
  { listing: { offers, rejected }, last, doubts, readAt }: Reading,
): Promise<Snapshot> {
  const doubted = kinds.filter((kind) => doubts[kind] !== undefined)
  if (doubted.length === 0) return { offers, rejected, readAt }
  const held = Object.fromEntries(doubted.map((kind) => [kind, readAtOf(last, kind)]))
  return {
    offers: await catalogWorker.hold(offers, last.records, doubted, signal),
    rejected,
    readAt,
    held,
  }
}

/**
 * Keeps the list for the next start. It happens after the swap and its failure does not undo it:
 * selling at yesterday's prices because the database hiccups would be the worse mistake, and a list
 * that no catalog can be built from is never kept.
 */
async function keep(snapshots: SnapshotStore, snapshot: Snapshot): Promise<string | undefined> {
  try {
    await snapshots.save(snapshot)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
