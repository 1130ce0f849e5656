import type { Health } from '../health/health.ts'
import type { Funds, Gas, Means } from '../health/verdict.ts'
import { type Usdc, usdc } from '../lib/money.ts'
import { repeat } from '../lib/scheduling.ts'
import { nothingOpen, type OpenFacts } from '../orders/ports.ts'
import { withRecentValue } from './cached-reads.ts'

const usualEveryMs = 5_000

/** The number of transfers that the gas wallet must cover beyond the open refunds. */
const transfersAhead = 20n
const centInAtomic = 10_000n

/** The balance of the gas wallet and the current cost of one USDC transfer, in wei. */
export interface GasFacts {
  readonly balance: bigint
  readonly perTransfer: bigint
}

/** The store's wallet at the supplier, in whole units of its currency. */
export interface SupplierWallet {
  readonly available: number
  readonly currency: string
}

/** The sources of the means. */
export interface MeansSources {
  /** May throw, like `gas` and `open`. */
  readonly float: () => Promise<Usdc>
  readonly gas: () => Promise<GasFacts>
  readonly open: () => Promise<OpenFacts>
  /** The current wallet, or the last known one; undefined when that is too old. */
  readonly supplierWallets: ReadonlyMap<string, () => Promise<SupplierWallet | undefined>>
  readonly cheapest: () => Usdc | undefined
  readonly maxRefund: Usdc | undefined
  readonly maxBorneOut: () => Promise<Usdc | undefined>
}

interface MonitorOptions {
  readonly now: () => Date
  readonly signal: AbortSignal
  /** 5 s when left out. */
  readonly everyMs?: number | undefined
  /** Called after each reading. */
  readonly onRead?: () => void
}

/**
 * Reads the means at once and then every 5 s, or as often as it is told. When a source fails, its last value
 * counts for 5 minutes. Purchases are checked against the means less the sales of this process that the
 * open orders, as they were last read, do not include. Sales of other nodes since then are not included.
 */
export function monitorFloat(
  sources: MeansSources,
  health: Pick<Health, 'noteMeans' | 'noteFundsRefusal'>,
  { now, signal, everyMs = usualEveryMs, onRead = () => undefined }: MonitorOptions,
): Promise<void> {
  const reads = {
    float: withRecentValue(sources.float),
    gas: withRecentValue(sources.gas),
    open: withRecentValue(async () => ({ since: now(), facts: await sources.open() })),
  }
  const task = async () => {
    // Open orders are read first: an order that ends in between counts twice for a moment, but is never missed.
    const seen = await reads.open.read()
    const open = seen?.facts
    const [float, gas, wallets, maxBorneOut] = await Promise.all([
      reads.float.read(),
      reads.gas.read(),
      walletsSeen(sources.supplierWallets),
      sources.maxBorneOut(),
    ])
    for (const refusal of open?.fundsRefusals ?? []) {
      // Orders stay on record after their supplier was removed.
      if (sources.supplierWallets.has(refusal.supplier)) {
        health.noteFundsRefusal(refusal.supplier, refusal)
      }
    }
    health.noteMeans(meansOf(sources, { float, gas, wallets, open, maxBorneOut }), seen?.since)
    onRead()
    return true
  }
  return repeat(task, { everyMs, retryMs: everyMs, signal })
}

/** The wallets that could be seen. */
async function walletsSeen(
  wallets: MeansSources['supplierWallets'],
): Promise<ReadonlyMap<string, SupplierWallet>> {
  const seen = await Promise.all(
    Array.from(wallets, async ([name, look]) => [name, await look()] as const),
  )
  return new Map(seen.flatMap(([name, wallet]) => (wallet ? [[name, wallet]] : [])))
}

interface MeansReadings {
  readonly float: Usdc | undefined
  readonly gas: GasFacts | undefined
  readonly wallets: ReadonlyMap<string, SupplierWallet>
  readonly open: OpenFacts | undefined
  readonly maxBorneOut: Usdc | undefined
}

function meansOf(
  sources: MeansSources,
  { float, gas, wallets, open, maxBorneOut }: MeansReadings,
): Means {
  const pending = [...(open?.suppliers.values() ?? [])].reduce((sum, at) => sum + at.pending, 0n)
  return {
    cover: float !== undefined && open ? { float, exposure: open.exposure } : undefined,
    pending: usdc(pending),
    gas: gas && open && gasOf(gas, open),
    funds: new Map(
      open &&
        Array.from(wallets, ([name, wallet]) => [name, fundsOf(wallet, open.suppliers.get(name))]),
    ),
    maxRefund: sources.maxRefund,
    maxBorneOut,
    cheapest: sources.cheapest(),
  }
}

function gasOf({ balance, perTransfer }: GasFacts, { refunds }: OpenFacts): Gas {
  return { balance, need: perTransfer * (transfersAhead + BigInt(refunds)) }
}

function fundsOf({ available, currency }: SupplierWallet, open = nothingOpen): Funds | 'unbounded' {
  if (currency !== 'USD') return 'unbounded'
  const wholeCents = BigInt(Math.max(0, Math.floor(available * 100 + 1e-6)))
  return { available: usdc(wholeCents * centInAtomic), ...open }
}
