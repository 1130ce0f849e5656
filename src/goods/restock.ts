import { isDeepStrictEqual } from 'node:util'
import type { InTurn } from '../primitives/in-turn.ts'
import { repeat } from '../primitives/repeat.ts'
import type { Shelf } from './catalog.ts'
import type { Snapshot, SnapshotStore, Stockroom } from './ports.ts'
import { isStale, type Pricing } from './pricing.ts'

export interface RestockDeps {
  readonly stockroom: Stockroom
  readonly snapshots: SnapshotStore
  readonly shelf: Shelf
  readonly pricing: Pricing
  /** One catalog is made at a time, so that none is replaced by one of an older list. */
  readonly inTurn: InTurn
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** What came of reading the supplier's list once. */
export type Restocked =
  | {
      readonly outcome: 'loaded'
      readonly offers: number
      readonly setAside: Readonly<Record<string, number>>
      readonly durationMs: number
      /** Why the list was not kept for the next start, when it was not. It is on sale all the same. */
      readonly notKept?: string
    }
  /** The list was read but is not believed; what was on sale before stays on sale. */
  | {
      readonly outcome: 'refused'
      readonly offers: number
      readonly setAside: Readonly<Record<string, number>>
      readonly reason: string
      readonly durationMs: number
    }
  /** The list could not be read; what was on sale before stays on sale. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly durationMs: number }

/** What came of putting the last good list back on the shelf. */
export type Served =
  | { readonly outcome: 'served'; readonly offers: number; readonly readAt: Date }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'failed'; readonly reason: string }

const retryMs = 30_000

/**
 * Reads the supplier's list and puts it on the shelf whole. Never throws: a supplier outage or a
 * database hiccup changes nothing on sale, and is for the health signal to show.
 */
export async function restock(deps: RestockDeps): Promise<Restocked> {
  const startedAt = deps.now()
  const elapsed = () => deps.now().getTime() - startedAt.getTime()
  try {
    const listing = await deps.stockroom.read(deps.signal)
    const { setAside } = listing
    const offers = listing.offers.count
    const reason = refusalOf(offers, deps.shelf.current().size)
    if (reason !== undefined) {
      return { outcome: 'refused', offers, setAside, reason, durationMs: elapsed() }
    }
    const snapshot: Snapshot = { ...listing, readAt: startedAt }
    await deps.inTurn(() => put(deps, snapshot))
    const notKept = await keep(deps.snapshots, snapshot)
    const loaded = { outcome: 'loaded', offers, setAside, durationMs: elapsed() } as const
    return notKept === undefined ? loaded : { ...loaded, notKept }
  } catch (error) {
    return { outcome: 'failed', reason: messageOf(error), durationMs: elapsed() }
  }
}

/**
 * Restocks now and then every `everyMs`, one load at a time, until `deps.signal` stops it. After a
 * failure it tries again in 30 s, doubling up to `everyMs`.
 *
 * @param report told about every load, the good ones too
 * @returns ends when the loop has ended
 */
export function startRestocking(
  deps: RestockDeps,
  report: (restocked: Restocked) => void,
  everyMs = 15 * 60_000,
): Promise<void> {
  const task = async () => {
    const restocked = await restock(deps)
    // A load that was cut short by stopping says nothing about the supplier.
    if (!deps.signal.aborted) report(restocked)
    return restocked.outcome === 'loaded'
  }
  return repeat(task, { everyMs, retryMs, signal: deps.signal })
}

/** Puts the last good list on the shelf, so that a restart serves before the supplier answers. */
export async function serveLast(deps: RestockDeps): Promise<Served> {
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
 * have become too old to sell by: prices and order hang on them.
 */
export function reprice(deps: RestockDeps): Promise<void> {
  const { inTurn, shelf, pricing } = deps
  // What is looked at may be replaced by the work before it, so it is looked at in turn.
  return inTurn(async () => {
    const catalog = shelf.current()
    const rates = pricing.rates()
    if (catalog.size === 0 || rates === undefined) return
    const isTooOld = isStale(rates, pricing.now())
    if (isDeepStrictEqual(rates, catalog.rates) && isTooOld === catalog.hasStaleRates) return
    const { records, readAt, setAside } = catalog
    await put(deps, { offers: records, readAt, setAside })
  })
}

/** Makes a catalog and swaps it in, in one step; the one before it is of no use any more. */
async function put(
  { stockroom, shelf, pricing, signal }: RestockDeps,
  snapshot: Snapshot,
): Promise<void> {
  const basis = { markupBps: pricing.markupBps, rates: pricing.rates(), now: pricing.now() }
  const catalog = await stockroom.build(snapshot, basis, signal)
  const last = shelf.current()
  shelf.replace(catalog)
  // No search ever waits, so none is under way in it.
  last.retire()
}

/** Half of a list looks like a list. Only its size, against the last one, gives it away. */
function refusalOf(offers: number, last: number): string | undefined {
  if (offers === 0) return 'The supplier lists nothing that can be sold.'
  return offers * 2 < last ? `The supplier lists ${offers} offers after ${last}.` : undefined
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
