import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createFrankfurter, keepRates } from './adapters/rates/frankfurter.ts'
import { createShelf, type Shelf } from './goods/catalog.ts'
import type { SnapshotStore, Stockroom } from './goods/ports.ts'
import type { Pricing } from './goods/pricing.ts'
import { reprice, serveLast, startRestocking } from './goods/restock.ts'
import type { Vitals } from './health/vitals.ts'
import { inTurn } from './primitives/in-turn.ts'

/** Nearly all offers are priced in dollars; a slow source of rates must not hold the start up. */
const ratesWaitMs = 2_000
const ratesTimeoutMs = 10_000

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
  const rates = keepRates(createFrankfurter({ url: config.ratesUrl, timeoutMs: ratesTimeoutMs }), {
    signal,
    report: (read) => {
      log.info({ rates: read.outcome }, 'exchange rates')
      reprice(deps).catch((error) => {
        if (!signal.aborted) failed('prices', error)
      })
    },
  })
  const pricing = { markupBps: config.markupBps, rates: rates.current, now }
  const shelf = createShelf()
  const deps = { stockroom, snapshots, shelf, pricing, inTurn: inTurn(), now, signal }
  await Promise.race([rates.first, delay(ratesWaitMs, undefined, { ref: false })])
  const served = await serveLast(deps)
  if (served.outcome === 'failed') log.error({ reason: served.reason }, 'last catalog not readable')
  if (served.outcome === 'served') vitals.noteCatalog(served.readAt)
  const first = Promise.withResolvers<void>()
  const restocking = startRestocking(deps, (restocked) => {
    log[restocked.outcome === 'loaded' ? 'info' : 'error']({ ...restocked }, 'catalog')
    if (restocked.outcome === 'loaded') vitals.noteCatalog(shelf.current().readAt)
    first.resolve()
  })
  if (served.outcome !== 'served') await first.promise
  return { shelf, pricing, work: [restocking, rates.stopped] }
}
