import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createFrankfurter, keepRates } from '../adapters/rates/frankfurter.ts'
import { createLiveCatalog, type LiveCatalog } from '../catalog/catalog.ts'
import { kinds, type ListName, supplierOf } from '../catalog/offer.ts'
import { type OfferSource, readAtOf, type SnapshotStore } from '../catalog/ports.ts'
import type { Pricing } from '../catalog/pricing.ts'
import { reprice, serveLast, startRefreshing } from '../catalog/refresh.ts'
import { noRules, type SellingRule, sellingRulesOf } from '../catalog/selling-rules.ts'
import { staleParts } from '../catalog/staleness.ts'
import type { Health } from '../health/health.ts'
import { inTurn, type LoopDeps, repeat } from '../lib/scheduling.ts'
import { watch } from '../operations/loops.ts'

/** Nearly all offers are priced in dollars, so the start need not wait long for rates. */
const ratesWaitMs = 2_000
const ratesTimeoutMs = 10_000
/** How long an offer whose price has become too old may stay listed. */
const agingMs = 5_000
/** A rule is in force on all nodes within 5 s: this time, and that of making the catalog anew. */
const rulesEveryMs = 1_000

export interface CatalogRefreshDeps extends LoopDeps {
  readonly config: {
    readonly ratesUrl: string
    readonly markupBps: number
    readonly site: { readonly acceptsCrypto: readonly string[] }
  }
  readonly log: Logger
  readonly now: () => Date
  readonly health: Health
}

export type RunningCatalog = Awaited<ReturnType<typeof startCatalog>>

interface CatalogRecord {
  readonly snapshots: SnapshotStore
  readonly sellingRules: () => Promise<readonly SellingRule[]>
}

/** The last good catalog serves at once; without one, the store waits for its first. */
export async function startCatalog(
  { config, log, now, signal, health, failed }: CatalogRefreshDeps,
  { snapshots, sellingRules }: CatalogRecord,
  sources: ReadonlyMap<string, OfferSource>,
) {
  const liveCatalog = createLiveCatalog()
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
    report: (result) => {
      const { outcome, ...more } = result
      const isGood = outcome === 'read' && result.refused.length === 0
      const why = outcome === 'failed' ? more : { refused: result.refused }
      log[isGood ? 'info' : 'error']({ rates: outcome, ...why }, 'exchange rates')
      void repriced()
    },
  })
  const readAt = (list: ListName) => readAtOf(liveCatalog.current(), list)
  const methods = ['x402', ...config.site.acceptsCrypto]
  const all = { method: methods, kind: kinds, supplier: [...sources.keys()] }
  let rules = noRules
  const pricing: Pricing = {
    ...{ markupBps: config.markupBps, rates: rates.current, readAt, now },
    rules: () => rules,
  }
  const first = Promise.withResolvers<void>()
  const deps = {
    ...{ sources, snapshots, liveCatalog, pricing, inTurn: inTurn(), now, signal },
    onSale: () => {
      health.noteCatalog(oldestOf(liveCatalog))
      first.resolve()
    },
  }
  const inForce = {
    read: sellingRules,
    changed: (latest: readonly SellingRule[]) => {
      rules = sellingRulesOf(latest, all)
      const { isEverythingPaused, pausesMethod } = rules
      health.notePause(isEverythingPaused, pausesMethod('x402'))
      log.info({ rules: latest.map(({ id }) => id) }, 'selling rules')
      void repriced()
    },
    everyMs: rulesEveryMs,
  }
  const watching = await watch('reading the selling rules', inForce, { signal, failed })
  await Promise.race([rates.first, delay(ratesWaitMs, undefined, { ref: false })])
  const served = await serveLast(deps)
  if (served.outcome === 'failed') log.error({ reason: served.reason }, 'last catalog not readable')
  if (served.outcome === 'served') health.noteCatalog(oldestOf(liveCatalog))
  const refreshing = startRefreshing(deps, (refreshed) => {
    const isGood = refreshed.outcome === 'loaded' && !refreshed.held && !refreshed.failed
    log[isGood ? 'info' : 'error']({ ...refreshed }, 'catalog')
    first.resolve()
  })
  if (served.outcome !== 'served' || staleParts(pricing, liveCatalog.current().sizes) !== '')
    await first.promise
  // Prices also end by time alone, when the rates or a list become too old.
  const aging = repeat(repriced, { everyMs: agingMs, retryMs: agingMs, signal })
  return { liveCatalog, pricing, work: [refreshing, rates.stopped, aging, watching.stopped] }
}

/** When the oldest list was read, of the supplier whose oldest list is the newest. */
function oldestOf(liveCatalog: LiveCatalog): Date {
  const catalog = liveCatalog.current()
  const bySupplier = Map.groupBy<string, ListName>(Object.keys(catalog.sizes), supplierOf)
  const times = Array.from(bySupplier.values(), (lists) =>
    Math.min(...lists.map((list) => readAtOf(catalog, list).getTime())),
  )
  return times.length === 0 ? catalog.readAt : new Date(Math.max(...times))
}
