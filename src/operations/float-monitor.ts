import type { Health } from '../health/health.ts'
import type { Funds, Gas, Means } from '../health/verdict.ts'
import { type Usdc, usdc } from '../lib/money.ts'
import { repeat } from '../lib/scheduling.ts'
import { nothingOpen, type OpenFacts } from '../orders/ports.ts'
import { withRecentValue } from './cached-reads.ts'

const usualEveryMs = 5_000

/** What the gas wallet must cover beyond the open refunds. */
export const transfersAhead = 20n
const centInAtomic = 10_000n

export interface GasFacts {
  readonly balance: bigint
  readonly perTransfer: bigint
  readonly settlement?: Gas['settlement']
}

/** In whole units of its currency. */
export interface SupplierWallet {
  readonly available: number
  readonly currency: string
}

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
  readonly everyMs?: number | undefined
  readonly onRead?: () => void
}

/**
 * Reads the means every 5 s. When a source fails, its last value counts for 5 minutes. Sales of this process count
 * until the open orders include them; sales of other nodes since the last reading do not.
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
    const reading = await reads.open.read()
    const open = reading?.facts
    const [float, gas, wallets, maxBorneOut] = await Promise.all([
      reads.float.read(),
      reads.gas.read(),
      Promise.all(
        Array.from(sources.supplierWallets, async ([name, look]) => [name, await look()] as const),
      ),
      sources.maxBorneOut(),
    ])
    for (const refusal of open?.fundsRefusals ?? []) {
      // Orders stay on record after their supplier was removed.
      if (sources.supplierWallets.has(refusal.supplier)) {
        health.noteFundsRefusal(refusal.supplier, refusal)
      }
    }
    health.noteMeans(meansOf(sources, { float, gas, wallets, open, maxBorneOut }), reading?.since)
    onRead()
    return true
  }
  return repeat(task, { everyMs, retryMs: everyMs, signal })
}

interface MeansReadings {
  readonly float: Usdc | undefined
  readonly gas: GasFacts | undefined
  readonly wallets: readonly (readonly [name: string, SupplierWallet | undefined])[]
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
      wallets.flatMap(([name, wallet]) =>
        open && wallet ? [[name, fundsOf(wallet, open.suppliers.get(name))] as const] : [],
      ),
    ),
    maxRefund: sources.maxRefund,
    maxBorneOut,
    cheapest: sources.cheapest(),
  }
}

function gasOf({ balance, perTransfer, settlement }: GasFacts, { refunds }: OpenFacts): Gas {
  return { balance, need: perTransfer * (transfersAhead + BigInt(refunds)), settlement }
}

function fundsOf(
  { available, currency }: SupplierWallet,
  openAtSupplier = nothingOpen,
): Funds | 'unbounded' {
  if (currency !== 'USD') return 'unbounded'
  const wholeCents = BigInt(Math.max(0, Math.floor(available * 100 + 1e-6)))
  return { available: usdc(wholeCents * centInAtomic), ...openAtSupplier }
}
