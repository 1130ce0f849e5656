import { createZenditClient } from './adapters/suppliers/zendit/client.ts'
import { createZenditSupplier } from './adapters/suppliers/zendit/purchases.ts'
import { createStockroom } from './adapters/threads/stockroom.ts'
import type { Common, Outside } from './config.ts'
import type { Vitals } from './health/vitals.ts'
import { remembered } from './operations/looks.ts'
import { watchedSupplier } from './operations/probes.ts'

/** After this long with nothing but failures, a purchase the supplier does not hold is given up. */
const placeWithinMs = 60_000
/** A purchase waits this long for one answer; much shorter than an order's lease. */
const supplierTimeoutMs = 10_000
/** A page of the supplier's list is large, and nobody waits for it. */
const listTimeoutMs = 30_000

export type Supply = ReturnType<typeof connectSupplier>

/** Where goods come from: what is on sale, purchases, and the wallet that they are paid from. */
export function connectSupplier({
  config,
  vitals,
}: {
  readonly config: Common & Outside
  readonly vitals: Vitals
}) {
  const access = (timeoutMs: number) => {
    return { baseUrl: config.supplierUrl, apiKey: config.supplierKey, timeoutMs }
  }
  const client = createZenditClient(access(supplierTimeoutMs))
  const supplier = createZenditSupplier(client, { placeWithinMs })
  return {
    stockroom: createStockroom({ supplier: access(listTimeoutMs), siteUrl: config.site.url }),
    supplier: watchedSupplier(supplier, vitals),
    acceptsKey: supplier.acceptsKey,
    wallet: remembered(async () => {
      const balance = await supplier.balance()
      if (balance.outcome === 'unknown') throw new Error(balance.reason)
      return { available: balance.available / balance.divisor, currency: balance.currency }
    }),
  }
}
