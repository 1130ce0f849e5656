import { createZenditClient } from './adapters/suppliers/zendit/client.ts'
import { createZenditSupplier } from './adapters/suppliers/zendit/purchases.ts'
import { createCatalogWorker } from './adapters/threads/catalog-worker.ts'
import type { Common, Outside } from './config.ts'
import type { SupplierWallet } from './operations/gauges.ts'
import { lastSeen } from './operations/looks.ts'

/** After this long with nothing but failures, a purchase the supplier does not hold is given up. */
const placeWithinMs = 60_000
/** A purchase waits this long for one answer; much shorter than an order's lease. */
export const supplierTimeoutMs = 10_000
/** A page of the supplier's list is large, and nobody waits for it. */
const listTimeoutMs = 30_000

/** No order has this reference: the supplier says that it holds nothing, whatever buyers do. */
const probedReference = 'kiosk402probe'

export type Supply = ReturnType<typeof connectSupplier>

/** Where goods come from: what is on sale, purchases, and the wallet that they are paid from. */
export function connectSupplier(
  config: Pick<Common, 'site'> & Pick<Outside, 'supplierUrl' | 'supplierKey'>,
) {
  const access = (timeoutMs: number) => {
    return { baseUrl: config.supplierUrl, apiKey: config.supplierKey, timeoutMs }
  }
  const client = createZenditClient(access(supplierTimeoutMs))
  const supplier = createZenditSupplier(client, { placeWithinMs, now: () => new Date() })
  const wallet = lastSeen(async (): Promise<SupplierWallet> => {
    const balance = await supplier.balance()
    if (balance.outcome === 'unknown') throw new Error(balance.reason)
    return { available: balance.available / balance.divisor, currency: balance.currency }
  })
  return {
    catalogWorker: createCatalogWorker({
      supplier: access(listTimeoutMs),
      siteUrl: config.site.url,
    }),
    supplier,
    acceptsKey: supplier.acceptsKey,
    /** What purchases are paid from. */
    wallet,
    /** Asks for a purchase that nobody has made. Throws when it is not answered. */
    async probe() {
      const held = await supplier.lookup('voucher', probedReference)
      if (held.outcome === 'unknown') throw new Error(held.reason)
    },
  }
}
