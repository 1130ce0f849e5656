import type { Funds, Gas, Means } from '../health/verdict.ts'
import type { Vitals } from '../health/vitals.ts'
import type { OpenFacts } from '../orders/ports.ts'
import { type Usdc, usdc } from '../primitives/money.ts'
import { repeat } from '../primitives/repeat.ts'
import type { SupplierWallet } from './gauges.ts'

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
  /** As it was seen last. */
  readonly supplierWallet: () => SupplierWallet | undefined
  readonly cheapest: () => Usdc | undefined
  readonly refundMost: Usdc | undefined
}

/**
 * Looks at once and then every 5 s at what the store buys and pays back with. Purchases are held
 * against what was seen last: nearly all are delivered within a second, so what was sold since then is
 * not counted, neither here nor on other nodes.
 *
 * @param looked is called after each look
 */
export function covering(
  sources: MeansSources,
  vitals: Pick<Vitals, 'noteMeans' | 'noteFundsRefusal'>,
  { signal, looked = () => undefined }: { signal: AbortSignal; looked?: () => void },
): Promise<void> {
  const task = async () => {
    // The probes of the chain and the database tell what is wrong where one of them cannot be seen.
    const [float, gas, open] = await Promise.all([
      orUnseen(sources.float()),
      orUnseen(sources.gas()),
      orUnseen(sources.open()),
    ])
    for (const refusal of open?.fundsRefusals ?? []) vitals.noteFundsRefusal(refusal)
    vitals.noteMeans(meansOf(sources, { float, gas, open }))
    looked()
    return true
  }
  return repeat(task, { everyMs: lookEveryMs, retryMs: lookEveryMs, signal })
}

interface Looked {
  readonly float: Usdc | undefined
  readonly gas: GasFacts | undefined
  readonly open: OpenFacts | undefined
}

function meansOf(sources: MeansSources, { float, gas, open }: Looked): Means {
  return {
    cover: float !== undefined && open ? { float, exposure: open.exposure } : undefined,
    gas: gas && open && gasOf(gas, open),
    funds: open && fundsOf(sources.supplierWallet(), open),
    refundMost: sources.refundMost,
    cheapest: sources.cheapest(),
  }
}

function gasOf({ balance, perTransfer }: GasFacts, { refunds }: OpenFacts): Gas {
  return { balance, need: perTransfer * (transfersAhead + BigInt(refunds)) }
}

/** A wallet in another currency than the prices bounds nothing. */
function fundsOf(wallet: SupplierWallet | undefined, { committed }: OpenFacts): Funds | undefined {
  if (wallet?.currency !== 'USD') return undefined
  const wholeCents = BigInt(Math.max(0, Math.floor(wallet.available * 100 + 1e-6)))
  return { available: usdc(wholeCents * centInAtomic), committed }
}

async function orUnseen<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look
  } catch {
    return undefined
  }
}
