import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createFrankfurter, keepRates } from './adapters/rates/frankfurter.ts'
import { createShelf, type Shelf } from './goods/catalog.ts'
import { kinds } from './goods/good.ts'
import type { Kind } from './goods/offer.ts'
import { readAtOf, type SnapshotStore, type Stockroom } from './goods/ports.ts'
import type { Pricing } from './goods/pricing.ts'
import { reprice, serveLast, startRestocking } from './goods/restock.ts'
import { staleParts } from './goods/staleness.ts'
import type { Vitals } from './health/vitals.ts'
import { inTurn } from './primitives/in-turn.ts'
import { repeat } from './primitives/repeat.ts'

/** Nearly all offers are priced in dollars; a slow source of rates must not hold the start up. */
const ratesWaitMs = 2_000
const ratesTimeoutMs = 10_000
/** How long an offer may still be listed that has become too old to sell. */
const agingMs = 5_000

export interface StockingDeps {
  readonly config: { readonly ratesUrl: string; readonly markupBps: number }
  readonly log: Logger
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly vitals: Vitals
  readonly failed: (what: string, error: unknown) => void
}

export interface Stocked {
  readonly shelf: Shelf
  readonly pricing: Pricing
  /** Ends when the background work has ended. */
  readonly work: readonly Promise<unknown>[]
}

/**
 * Puts a catalog on the shelf and keeps it fresh. The last good one serves at once; without one,
 * the store waits for its first.
 */
export async function startStock(
  { config, log, now, signal, vitals, failed }: StockingDeps,
  snapshots: SnapshotStore,
  stockroom: Stockroom,
): Promise<Stocked> {
  const shelf = createShelf()
  const repriced = async () => {
    try {
      await reprice(deps)
    } catch (error) {
      if (!signal.aborted) failed('prices', error)
    }
    return true
  }
  const rates = keepRates(createFrankfurter({ url: config.ratesUrl, timeoutMs: ratesTimeoutMs }), {
    now,
    signal,
    report: (read) => {
      const { outcome, ...more } = read
      const isGood = outcome === 'read' && read.refused.length === 0
      const why = outcome === 'failed' ? more : { refused: read.refused }
      log[isGood ? 'info' : 'error']({ rates: outcome, ...why }, 'exchange rates')
      void repriced()
    },
  })
  const readAt = (kind: Kind) => readAtOf(shelf.current(), kind)
  const pricing = { markupBps: config.markupBps, rates: rates.current, readAt, now }
  const deps = { stockroom, snapshots, shelf, pricing, inTurn: inTurn(), now, signal }
  await Promise.race([rates.first, delay(ratesWaitMs, undefined, { ref: false })])
  const served = await serveLast(deps)
  if (served.outcome === 'failed') log.error({ reason: served.reason }, 'last catalog not readable')
  if (served.outcome === 'served') vitals.noteCatalog(oldestOf(shelf))
  const first = Promise.withResolvers<void>()
  const restocking = startRestocking(deps, (restocked) => {
    const isGood = restocked.outcome === 'loaded' && restocked.held === undefined
    log[isGood ? 'info' : 'error']({ ...restocked }, 'catalog')
    if (restocked.outcome === 'loaded') vitals.noteCatalog(oldestOf(shelf))
    first.resolve()
  })
  if (served.outcome !== 'served' || staleParts(pricing) !== '') await first.promise
  // Prices also end by time alone, when the rates or a list become too old.
  const aging = repeat(repriced, { everyMs: agingMs, retryMs: agingMs, signal })
  return { shelf, pricing, work: [restocking, rates.stopped, aging] }
}

/** When the oldest of what is on sale was read. */
function oldestOf(shelf: Shelf): Date {
  const times = kinds.map((kind) => readAtOf(shelf.current(), kind).getTime())
  return new Date(Math.min(...times))
}
