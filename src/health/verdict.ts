import { formatUsdc, type Usdc, usdc } from '../lib/money.ts'
import { type PartHealth, type Parts, type Signals, signalsOf } from './signals.ts'

/** What refunds are paid from, and what may have to be paid back. */
export interface Cover {
  readonly float: Usdc
  readonly exposure: Usdc
}

/** What transactions are sent with, and what those cost that are expected soon; wei. */
export interface Gas {
  readonly balance: bigint
  readonly need: bigint
}

/** What the supplier takes purchases from, and what the orders may take that it has not delivered yet. */
export interface Funds {
  readonly available: Usdc
  readonly committed: Usdc
  /** What checkouts cost that are paid and not confirmed. */
  readonly unconfirmed: Usdc
}

/**
 * What the store buys and pays back with, as it was seen last. Undefined is what was not seen, now or
 * lately: then nothing is sold, since no bound is known.
 */
export interface Means {
  readonly cover: Cover | undefined
  /** What orders cost whose payment is under way: it may have to be bought and to be paid back. */
  readonly pending: Usdc
  readonly gas: Gas | undefined
  /** A wallet at the supplier in another currency than the prices bounds nothing. */
  readonly funds: Funds | 'unbounded' | undefined
  /** The largest refund that the caps can ever let through. */
  readonly maxRefund: Usdc | undefined
  /** The largest payment that a node beside ours could bear out; undefined: any. */
  readonly maxBorneOut: Usdc | undefined
  /** The least that anything on sale costs. */
  readonly cheapest: Usdc | undefined
}

/** Everything that decides whether the store sells. */
export interface Facts {
  /** The parts whose health is told by how their calls end, and the age of the catalog. */
  readonly parts: Readonly<Record<'supplier' | 'chain' | 'database' | 'catalog', PartHealth>>
  /** Undefined until the first look. */
  readonly means: Means | undefined
  /** Why nothing may be sold until something is known. */
  readonly held: string | undefined
  /** Whether the supplier said of several purchases that the wallet there does not suffice. */
  readonly isRefusedForFunds: boolean
  /** What was sold since the look at the means began. */
  readonly sold: Usdc
}

/** What a purchase may cost at most just now, and what the bound is. */
export interface Bound {
  readonly by: 'refund_float' | 'refund_cap' | 'supplier_funds' | 'witness'
  readonly most: Usdc
}

/** Whether the store sells. */
export interface Verdict {
  readonly parts: Parts
  readonly action: Signals['agent_action']
  /** The bounds on a single purchase, the tightest first. Each is at least what the cheapest offer costs. */
  readonly bounds: readonly Bound[]
}

/**
 * The one rule of whether the store sells: `/readyz`, the signals, the metrics and the answer to every
 * purchase are made of it. Something is `down` when not even the cheapest offer could be bought and
 * paid back, so the signals say stop exactly while every purchase is refused.
 */
export function verdictOf(facts: Facts, now: Date): Verdict {
  const { parts } = facts
  const means = facts.means && lessSold(facts.means, facts.sold)
  const bounds = means ? boundsOf(means) : []
  const all: Parts = {
    ...parts,
    chain: worst(parts.chain, witnessHealth(means, bounds)),
    supplier: worst(parts.supplier, fundsHealth(means, bounds, facts.isRefusedForFunds)),
    refunds: facts.held === undefined ? refundsHealth(means, bounds) : down(facts.held),
    gas: gasHealth(means?.gas),
  }
  return { parts: all, action: signalsOf(all, now).agent_action, bounds }
}

/** Why a purchase of this amount is not sold, or undefined: it is. */
export type Unsold =
  | { readonly type: 'paused' }
  | { readonly type: 'too_large'; readonly bound: Bound }

/**
 * @param isFromFloat whether the refund wallet would pay it back. What was paid in a coin goes back from
 *   the processor, and no node of ours has to show it.
 */
export function unsold(
  { action, bounds }: Verdict,
  amount: Usdc,
  isFromFloat: boolean,
): Unsold | undefined {
  if (action === 'stop') return { type: 'paused' }
  const bound = bounds.find(({ by }) => isFromFloat || !ofUsdc.includes(by))
  return bound && amount > bound.most ? { type: 'too_large', bound } : undefined
}

/** What bounds only purchases that are paid in USDC. */
const ofUsdc: readonly Bound['by'][] = ['refund_float', 'witness']

function isFunds(funds: Means['funds']): funds is Funds {
  return funds !== undefined && funds !== 'unbounded'
}

/**
 * One purchase that fails costs its buyer nothing, so it may take a quarter of what is left: the store
 * goes on selling beside it.
 */
function shareOfFloat({ float, exposure }: Cover): Usdc {
  return usdc(rest(float, exposure) / 4n)
}

/**
 * What the supplier's wallet has to be spared for. A payment that is not confirmed costs next to nothing
 * and can be taken back, so all of those together hold at most half of the wallet.
 */
function heldOf({ available, committed, unconfirmed }: Funds): Usdc {
  const half = usdc(available / 2n)
  return usdc(committed + (unconfirmed < half ? unconfirmed : half))
}

function boundsOf({ cover, funds, maxRefund, maxBorneOut }: Means): readonly Bound[] {
  const bounds: Bound[] = [
    ...(cover ? [{ by: 'refund_float' as const, most: shareOfFloat(cover) }] : []),
    ...(isFunds(funds)
      ? [{ by: 'supplier_funds' as const, most: rest(funds.available, heldOf(funds)) }]
      : []),
    ...(maxRefund === undefined ? [] : [{ by: 'refund_cap' as const, most: maxRefund }]),
    ...(maxBorneOut === undefined ? [] : [{ by: 'witness' as const, most: maxBorneOut }]),
  ]
  return bounds.sort((one, other) => Number(one.most - other.most))
}

/** The means less what was sold and is not paid as far as they were seen. */
function lessSold(means: Means, sold: Usdc): Means {
  const { cover, funds, pending } = means
  const unpaid = pending + sold
  return {
    ...means,
    cover: cover && { ...cover, exposure: usdc(cover.exposure + unpaid) },
    funds: isFunds(funds) ? { ...funds, committed: usdc(funds.committed + unpaid) } : funds,
  }
}

function isBelowCheapest(bounds: readonly Bound[], by: Bound['by'], { cheapest }: Means): boolean {
  const bound = bounds.find((one) => one.by === by)
  return bound !== undefined && bound.most < (cheapest ?? 1n)
}

function fundsHealth(
  means: Means | undefined,
  bounds: readonly Bound[],
  isRefusedForFunds: boolean,
): PartHealth {
  if (isRefusedForFunds) {
    return down('The supplier answers that the wallet there does not suffice. Fill it.')
  }
  if (!means?.funds) return down('The wallet at the supplier was not seen lately.')
  const { funds } = means
  if (funds === 'unbounded' || !isBelowCheapest(bounds, 'supplier_funds', means)) return healthy
  return down(
    `The wallet at the supplier holds ${text(funds.available)} USD, and open orders may take ${text(heldOf(funds))}.`,
  )
}

function refundsHealth(means: Means | undefined, bounds: readonly Bound[]): PartHealth {
  if (!means?.cover) return down('What refunds are paid from was not seen lately.')
  const { cover, maxRefund } = means
  if (isBelowCheapest(bounds, 'refund_float', means)) {
    return down(
      `Refunds may need ${text(cover.exposure)} USDC, and their wallet holds ${text(cover.float)}: a purchase may take a quarter of the rest.`,
    )
  }
  if (maxRefund !== undefined && isBelowCheapest(bounds, 'refund_cap', means)) {
    return down(`No refund above ${text(maxRefund)} USDC is let through, and nothing costs less.`)
  }
  return healthy
}

function witnessHealth(means: Means | undefined, bounds: readonly Bound[]): PartHealth {
  return means && isBelowCheapest(bounds, 'witness', means)
    ? down('No witness shows payments, and nothing costs less than what it has to show.')
    : healthy
}

function gasHealth(gas: Gas | undefined): PartHealth {
  if (!gas) return down('The gas wallet was not seen lately.')
  if (gas.balance >= gas.need) return healthy
  return down(`The gas wallet holds ${ether(gas.balance)} ETH, and needs ${ether(gas.need)}.`)
}

const healthy: PartHealth = { state: 'healthy', detail: '' }

function down(detail: string): PartHealth {
  return { state: 'down', detail }
}

/** Of two that tell of the same part; the first one where both are as bad. */
function worst(one: PartHealth, other: PartHealth): PartHealth {
  const order: readonly PartHealth['state'][] = ['healthy', 'degraded', 'down']
  return order.indexOf(other.state) > order.indexOf(one.state) ? other : one
}

function rest(held: Usdc, owed: Usdc): Usdc {
  return usdc(held > owed ? held - owed : 0n)
}

/** As people read it; a purse that is not seen to be empty never reads 0. */
function text(amount: Usdc): string {
  return formatUsdc(amount)
}

function ether(wei: bigint): string {
  return (Number(wei) / 1e18).toPrecision(3)
}
