import { type Bought, buyAgainAndAgain } from './buyer.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { startParts, withStore } from './shop.ts'

/**
 * One purchase after another over HTTP, with a PostgreSQL that syncs to disk and a real EVM node. The
 * store's own part is the time without its waiting for the chain and the supplier; it includes the
 * signature checks of x402.
 */
export async function measurePurchase(): Promise<Figure[]> {
  const parts = await startParts()
  try {
    const bought = await withStore(parts, parts.databaseUrl, (store) =>
      buyAgainAndAgain(parts, store, { purchases: 150, warmUp: 30 }),
    )
    return figuresOf(bought)
  } finally {
    await parts.stop()
  }
}

function figuresOf({ own, total, unpaid }: Bought): Figure[] {
  const whole = 'A purchase from request to goods, all parts on this machine, p50'
  return [
    figure('A purchase, the store’s own part, p50', quantile(own, 0.5), 'ms', 10),
    figure('A purchase, the store’s own part, p95', quantile(own, 0.95), 'ms'),
    figure(whole, quantile(total, 0.5), 'ms'),
    figure('The unpaid call that names the price, p50', quantile(unpaid, 0.5), 'ms'),
  ]
}
