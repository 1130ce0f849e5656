import { formatUsdc, type Usdc, usdc } from '../lib/money.ts'
import { type PartHealth, type Parts, type Signals, signalsOf } from './signals.ts'

/** The refund wallet and the amount that may have to be refunded. */
export interface Cover {
  readonly float: Usdc
  readonly exposure: Usdc
}

/** The gas wallet and the cost of the transactions expected soon, in wei. */
export interface Gas {
  readonly balance: bigint
  readonly need: bigint
}

/** The wallet at a supplier, and what undelivered orders may take from it. */
export interface Funds {
  readonly available: Usdc
  /** The price of this supplier's orders whose payment is being settled. */
  readonly pending: Usdc
  readonly committed: Usdc
  /** The price of checkouts whose payments are not confirmed yet. */
  readonly unconfirmed: Usdc
}

/**
 * The funds for purchases and refunds, as last read. A part that could not be read recently is
 * undefined, and nothing is sold then, because no bound is known.
 */
export interface Means {
  readonly cover: Cover | undefined
  /** The price of orders whose payment is being settled. They may need both supplier funds and refunds. */
  readonly pending: Usdc
  readonly gas: Gas | undefined
  /** By supplier. `unbounded` when the wallet's currency differs from that of the prices. */
  readonly funds: ReadonlyMap<string, Funds | 'unbounded'>
  /** The largest refund that the refund caps allow. */
  readonly maxRefund: Usdc | undefined
  /** The largest payment that needs no witness while no witness is available; undefined means no limit. */
  readonly maxBorneOut: Usdc | undefined
  /** The price of the cheapest offer. */
  readonly cheapest: Usdc | undefined
}

/** The facts of one supplier that decide whether its offers are sold. */
export interface SupplierFacts {
  /** The health that follows from the outcomes of its calls. */
  readonly health: PartHealth
  readonly funds: Funds | 'unbounded' | undefined
  /** Whether it refused several purchases for insufficient funds. */
  readonly isRefusedForFunds: boolean
  /** Its sales that the means do not include yet. */
  readonly sold: Usdc
}

/** Everything that decides whether the store sells the offers of one supplier. */
export interface Facts {
  /** The parts whose health follows from the outcomes of their calls, and the catalog. */
  readonly parts: Readonly<Record<'chain' | 'database' | 'catalog', PartHealth>>
  /** Undefined until they have been read once. */
  readonly means: Means | undefined
  /** Why all purchases are held, if they are. */
  readonly holdReason: string | undefined
  /** The sales of all suppliers that the means do not include yet. */
  readonly sold: Usdc
  readonly supplier: SupplierFacts
}

/** An upper bound on the price of a purchase, and its cause. */
export interface Bound {
  readonly by: 'refund_float' | 'refund_cap' | 'supplier_funds' | 'witness'
  readonly max: Usdc
}

/** The decision whether the store sells. */
export interface Verdict {
  readonly parts: Parts
  readonly action: Signals['agent_action']
  /** The bounds on a single purchase, the tightest first. None is below the price of the cheapest offer. */
  readonly bounds: readonly Bound[]
}

/**
 * Decides whether the store sells the offers of one supplier. `/readyz`, the signals, the metrics and the
 * answer to every purchase follow from it. A part is `down` when not even the cheapest offer could be bought
 * and refunded, so the signals say `stop` exactly while every purchase is refused.
 */
export function verdictOf(facts: Facts, now: Date): Verdict {
  const { parts, supplier } = facts
  const means = facts.means && withoutSales(facts.means, facts)
  const bounds = means ? boundsOf(means) : []
  const all: Parts = {
    ...parts,
    chain: worseOf(parts.chain, witnessHealth(means, bounds)),
    supplier: worseOf(supplier.health, fundsHealth(means, bounds, supplier.isRefusedForFunds)),
    refunds: facts.holdReason === undefined ? refundsHealth(means, bounds) : down(facts.holdReason),
    gas: gasHealth(means?.gas),
  }
  return { parts: all, action: signalsOf(all, now).agent_action, bounds }
}

/**
 * Combines the verdicts of all suppliers. The store sells while it sells the offers of at least one of them,
 * and its bounds are those of the supplier with the highest one.
 */
export function verdictOfAll(all: ReadonlyMap<string, Verdict>, now: Date): Verdict {
  const selling = [...all.values()].filter(({ action }) => action !== 'stop')
  const [best] = (selling.length > 0 ? selling : [...all.values()]).sort(roomiest)
  if (!best) throw new Error('There is no supplier')
  const ill = [...all].filter(([, { parts }]) => parts.supplier.state === 'down')
  const detail = ill.map(([name, { parts }]) => `${name}: ${parts.supplier.detail}`).join(' ')
  const isOneOfMany = ill.length > 0 && ill.length < all.size
  const supplier = isOneOfMany ? { ...best.parts.supplier, detail } : best.parts.supplier
  const parts = { ...best.parts, supplier }
  return { parts, action: signalsOf(parts, now).agent_action, bounds: best.bounds }
}

/** Orders verdicts by their tightest bound, which is the first, the highest one in front. */
function roomiest({ bounds: [one] }: Verdict, { bounds: [other] }: Verdict): number {
  if (one === undefined || other === undefined) return Number(!other) - Number(!one)
  return one.max === other.max ? 0 : one.max > other.max ? -1 : 1
}

/** The reason why a purchase is refused. */
export type Unsold =
  | { readonly type: 'paused' }
  /** The offers of this supplier are not sold, but others are. */
  | { readonly type: 'supplier_paused' }
  | { readonly type: 'too_large'; readonly bound: Bound }

/**
 * Returns why a purchase of this amount is refused, or undefined when it is sold.
 *
 * @param isFromFloat whether the refund wallet would pay a refund. The payment processor refunds payments
 *   in coins and confirms them, so the float and the witnesses do not limit them.
 */
export function unsold(
  { action, bounds }: Verdict,
  amount: Usdc,
  isFromFloat: boolean,
): Unsold | undefined {
  if (action === 'stop') return { type: 'paused' }
  const bound = bounds.find(({ by }) => isFromFloat || !usdcOnly.includes(by))
  return bound && amount > bound.max ? { type: 'too_large', bound } : undefined
}

/** The bounds that apply only to purchases paid in USDC. */
const usdcOnly: readonly Bound['by'][] = ['refund_float', 'witness']

/** The means as they bound the offers of one supplier. */
type BoundMeans = Omit<Means, 'funds'> & Pick<SupplierFacts, 'funds'>

function isFunds(funds: SupplierFacts['funds']): funds is Funds {
  return funds !== undefined && funds !== 'unbounded'
}

/**
 * A failing purchase costs its buyer nothing, so one purchase may take at most a quarter of the free
 * float. The store can keep selling beside it.
 */
function shareOfFloat({ float, exposure }: Cover): Usdc {
  return usdc(remainder(float, exposure) / 4n)
}

/**
 * The reserved part of the wallet at the supplier. An unconfirmed payment is cheap to make and can be
 * revoked, so all unconfirmed payments together reserve at most half of the wallet.
 */
function reservedOf({ available, committed, unconfirmed }: Funds): Usdc {
  const half = usdc(available / 2n)
  return usdc(committed + (unconfirmed < half ? unconfirmed : half))
}

function boundsOf({ cover, funds, maxRefund, maxBorneOut }: BoundMeans): readonly Bound[] {
  const bounds: Bound[] = [
    ...(cover ? [{ by: 'refund_float' as const, max: shareOfFloat(cover) }] : []),
    ...(isFunds(funds)
      ? [{ by: 'supplier_funds' as const, max: remainder(funds.available, reservedOf(funds)) }]
      : []),
    ...(maxRefund === undefined ? [] : [{ by: 'refund_cap' as const, max: maxRefund }]),
    ...(maxBorneOut === undefined ? [] : [{ by: 'witness' as const, max: maxBorneOut }]),
  ]
  return bounds.sort((one, other) => Number(one.max - other.max))
}

/** Deducts recent sales and pending payments from the means. */
function withoutSales(means: Means, { sold, supplier }: Facts): BoundMeans {
  const { cover, pending } = means
  const { funds } = supplier
  return {
    ...means,
    cover: cover && { ...cover, exposure: usdc(cover.exposure + pending + sold) },
    funds: isFunds(funds)
      ? { ...funds, committed: usdc(funds.committed + funds.pending + supplier.sold) }
      : funds,
  }
}

function isBelowCheapest(
  bounds: readonly Bound[],
  by: Bound['by'],
  { cheapest }: BoundMeans,
): boolean {
  const bound = bounds.find((one) => one.by === by)
  return bound !== undefined && bound.max < (cheapest ?? 1n)
}

function fundsHealth(
  means: BoundMeans | undefined,
  bounds: readonly Bound[],
  isRefusedForFunds: boolean,
): PartHealth {
  if (isRefusedForFunds) {
    return down('The supplier refuses purchases for insufficient funds. Top up the wallet there.')
  }
  if (!means?.funds) return down('The wallet at the supplier has not been read recently.')
  const { funds } = means
  if (funds === 'unbounded' || !isBelowCheapest(bounds, 'supplier_funds', means)) return healthy
  return down(
    `The wallet at the supplier holds ${formatUsdc(funds.available)} USD, of which open orders may need ${formatUsdc(reservedOf(funds))}. Top it up.`,
  )
}

function refundsHealth(means: BoundMeans | undefined, bounds: readonly Bound[]): PartHealth {
  if (!means?.cover) return down('The refund wallet has not been read recently.')
  const { cover, maxRefund } = means
  if (isBelowCheapest(bounds, 'refund_float', means)) {
    return down(
      `The refund wallet holds ${formatUsdc(cover.float)} USDC, and open refunds may need ${formatUsdc(cover.exposure)}. One purchase may take a quarter of the rest. Top up the wallet.`,
    )
  }
  if (maxRefund !== undefined && isBelowCheapest(bounds, 'refund_cap', means)) {
    return down(
      `The refund caps allow at most ${formatUsdc(maxRefund)} USDC, and no offer is that cheap.`,
    )
  }
  return healthy
}

function witnessHealth(means: BoundMeans | undefined, bounds: readonly Bound[]): PartHealth {
  return means && isBelowCheapest(bounds, 'witness', means)
    ? down('No witness is available, and every offer costs enough to need one.')
    : healthy
}

function gasHealth(gas: Gas | undefined): PartHealth {
  if (!gas) return down('The gas wallet has not been read recently.')
  if (gas.balance >= gas.need) return healthy
  return down(
    `The gas wallet holds ${ether(gas.balance)} ETH and needs ${ether(gas.need)}. Top it up.`,
  )
}

const healthy: PartHealth = { state: 'healthy', detail: '' }

function down(detail: string): PartHealth {
  return { state: 'down', detail }
}

/** Returns the worse of two states of the same part; the first when they are equal. */
function worseOf(one: PartHealth, other: PartHealth): PartHealth {
  const order: readonly PartHealth['state'][] = ['healthy', 'degraded', 'down']
  return order.indexOf(other.state) > order.indexOf(one.state) ? other : one
}

function remainder(held: Usdc, owed: Usdc): Usdc {
  return usdc(held > owed ? held - owed : 0n)
}

function ether(wei: bigint): string {
  return (Number(wei) / 1e18).toPrecision(3)
}
