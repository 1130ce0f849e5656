import type { Health } from '../health/health.ts'
import type { Gas, Means } from '../health/verdict.ts'
import { type Usdc, usdc } from '../lib/money.ts'
import { repeat } from '../lib/repeat.ts'
import type { OpenFacts } from '../orders/ports.ts'
import type { SupplierWallet } from './gauges.ts'
import { lastSeen } from './looks.ts'

const lookEveryMs = 5_000

/** Transfers that the gas wallet must be able to send beside the refunds that are open. */
const transfersAhead = 20n
const centInAtomic = 10_000n

/** What one transfer of USDC costs at the price of now, and what the gas wallet holds; wei. */
export interface GasFacts {
  readonly balance: bigint
  readonly perTransfer: bigint
}

/** Where the means of the store can be seen. Those that give a promise may throw. */
export interface MeansSources {
  readonly float: () => Promise<Usdc>
  readonly gas: () => Promise<GasFacts>
  readonly open: () => Promise<OpenFacts>
  /** As it was seen last where it cannot be seen just now; undefined once that is too long ago. */
  readonly supplierWallet: () => Promise<SupplierWallet | undefined>
  readonly cheapest: () => Usdc | undefined
  readonly maxRefund: Usdc | undefined
  readonly maxBorneOut: () => Promise<Usdc | undefined>
}

interface Looking {
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Called after each look. */
  readonly looked?: () => void
}

/**
 * Looks at once and then every 5 s at what the store buys and pays back with. What cannot be seen is
 * taken as it was seen last, for 5 minutes. Purchases are held against it, less what this process sold
 * since; what other nodes sold within these seconds is not counted.
 */
export function monitorFloat(
  sources: MeansSources,
  health: Pick<Health, 'noteMeans' | 'noteFundsRefusal'>,
  { now, signal, looked = () => undefined }: Looking,
): Promise<void> {
  const looks = {
    float: lastSeen(sources.float),
    gas: lastSeen(sources.gas),
    open: lastSeen(sources.open),
  }
  const task = async () => {
    const since = now()
    // An order that ends between the two is counted twice for a moment, and not left out.
    const open = await looks.open.look()
    const [float, gas, wallet, maxBorneOut] = await Promise.all([
      looks.float.look(),
      looks.gas.look(),
      sources.supplierWallet(),
      sources.maxBorneOut(),
    ])
    for (const refusal of open?.fundsRefusals ?? []) health.noteFundsRefusal(refusal)
    health.noteMeans(meansOf(sources, { float, gas, wallet, open, maxBorneOut }), since)
    looked()
    return true
  }
  return repeat(task, { everyMs: lookEveryMs, retryMs: lookEveryMs, signal })
}

interface Looked {
  readonly float: Usdc | undefined
  readonly gas: GasFacts | undefined
  readonly wallet: SupplierWallet | undefined
  readonly open: OpenFacts | undefined
  readonly maxBorneOut: Usdc | undefined
}

function meansOf(sources: MeansSources, looked: Looked): Means {
  const { float, gas, wallet, open, maxBorneOut } = looked
  return {
    cover: float !== undefined && open ? { float, exposure: open.exposure } : undefined,
    pending: open?.pending ?? usdc(0n),
    gas: gas && open && gasOf(gas, open),
    funds: wallet && open && fundsOf(wallet, open),
    maxRefund: sources.maxRefund,
    maxBorneOut,
    cheapest: sources.cheapest(),
  }
}

function gasOf({ balance, perTransfer }: GasFacts, { refunds }: OpenFacts): Gas {
  return { balance, need: perTransfer * (transfersAhead + BigInt(refunds)) }
}

function fundsOf(
  { available, currency }: SupplierWallet,
  { committed, unconfirmed }: OpenFacts,
): Means['funds'] {
  if (currency !== 'USD') return 'unbounded'
  const wholeCents = BigInt(Math.max(0, Math.floor(available * 100 + 1e-6)))
  return { available: usdc(wholeCents * centInAtomic), committed, unconfirmed }
}
