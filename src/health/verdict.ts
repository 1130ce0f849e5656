import { formatUsdc, type Usdc, usdc } from '../lib/money.ts'

export interface Cover {
  readonly float: Usdc
  readonly exposure: Usdc
}

export interface Gas {
  readonly balance: bigint
  readonly need: bigint
  /** What the cheapest settlement costs now, and may cost; undefined if a facilitator pays for it. In wei. */
  readonly settlement?: { readonly cost: bigint; readonly most: bigint } | undefined
}

export interface Funds {
  readonly available: Usdc
  readonly pending: Usdc
  readonly committed: Usdc
  readonly unconfirmed: Usdc
}

/** What could not be read recently is undefined, and nothing is sold then, because no bound is known. */
export interface Means {
  readonly cover: Cover | undefined
  /** The price of orders whose payment is being settled. They may need both supplier funds and refunds. */
  readonly pending: Usdc
  readonly gas: Gas | undefined
  /** By supplier. `unbounded` when the wallet's currency differs from that of the prices. */
  readonly funds: ReadonlyMap<string, Funds | 'unbounded'>
  readonly maxRefund: Usdc | undefined
  /** The largest payment that needs no witness while no witness is available; undefined means no limit. */
  readonly maxBorneOut: Usdc | undefined
  readonly cheapest: Usdc | undefined
}

export interface SupplierFacts {
  readonly health: PartHealth
  readonly funds: Funds | 'unbounded' | undefined
  /** Whether it refused several purchases for insufficient funds. */
  readonly isRefusedForFunds: boolean
  /** Its sales that the means do not include yet. */
  readonly sold: Usdc
}

export interface Facts {
  readonly parts: Omit<Parts, 'supplier' | 'refunds' | 'gas'>
  readonly means: Means | undefined
  readonly holdReason: string | undefined
  /** The sales of all suppliers that the means do not include yet. */
  readonly sold: Usdc
  readonly supplier: SupplierFacts
}

export interface Bound {
  readonly by: 'refund_float' | 'refund_cap' | 'supplier_funds' | 'witness'
  readonly max: Usdc
}

export interface Verdict {
  readonly parts: Parts
  readonly action: Signals['agent_action']
  /** For purchases in coins, which need no gas and go on while x402 alone is paused. */
  readonly coinAction: Signals['agent_action']
  /** Whether nothing but the price of gas stops purchases in USDC. */
  readonly isTooCostly: boolean
  /** Of a single purchase, the tightest first. None is below the price of the cheapest offer. */
  readonly bounds: readonly Bound[]
}

/**
 * Everything follows from it: `/readyz`, signals, metrics and answers. A part is `down` when not even the cheapest
 * offer could be bought and refunded, so the signals say `stop` exactly while every purchase is refused.
 */
export function verdictOf(facts: Facts, now: Date): Verdict {
  const { parts, supplier } = facts
  const means = facts.means && withoutSales(facts.means, facts)
  const bounds = means ? boundsOf(means) : []
  const gas = gasHealth(means?.gas)
  const all: Parts = {
    ...parts,
    chain: worseOf(parts.chain, witnessHealth(means, bounds)),
    supplier: worseOf(supplier.health, fundsHealth(means, bounds, supplier.isRefusedForFunds)),
    refunds: facts.holdReason === undefined ? refundsHealth(means, bounds) : down(facts.holdReason),
    gas: worseOf(gas, feeHealth(means?.gas)),
  }
  const { agent_action: action } = signalsOf(all, now)
  const isTooCostly = action === 'stop' && signalsOf({ ...all, gas }, now).agent_action !== 'stop'
  const sales = parts.sales.state === 'down' ? parts.sales : healthy
  const { agent_action: coinAction } = signalsOf({ ...all, gas, sales }, now)
  return { parts: all, action, coinAction, isTooCostly, bounds }
}

/** The store sells while it sells the offers of one supplier; its bounds are those of the one with the highest. */
export function verdictOfAll(all: ReadonlyMap<string, Verdict>): Verdict {
  const selling = [...all.values()].filter(({ parts }) => parts.supplier.state !== 'down')
  const [best] = (selling.length > 0 ? selling : [...all.values()]).sort(roomiest)
  if (!best) throw new Error('There is no supplier')
  const ill = [...all].filter(([, { parts }]) => parts.supplier.state === 'down')
  const detail = ill.map(([name, { parts }]) => `${name}: ${parts.supplier.detail}`).join(' ')
  const isOneOfMany = ill.length > 0 && ill.length < all.size
  const supplier = isOneOfMany ? { ...best.parts.supplier, detail } : best.parts.supplier
  return { ...best, parts: { ...best.parts, supplier } }
}

function roomiest({ bounds: [one] }: Verdict, { bounds: [other] }: Verdict): number {
  if (one === undefined || other === undefined) return Number(!other) - Number(!one)
  return one.max === other.max ? 0 : one.max > other.max ? -1 : 1
}

export type Unsold =
  | { readonly type: 'paused' | 'too_costly' }
  /** The offers of this supplier are not sold, but others are. */
  | { readonly type: 'supplier_paused' }
  | { readonly type: 'too_large'; readonly bound: Bound }

/**
 * Why a purchase is refused, if it is. The processor refunds payments in coins and confirms them, so the float and
 * the witnesses limit only those that are paid `isFromFloat`.
 */
export function unsold(verdict: Verdict, amount: Usdc, isFromFloat: boolean): Unsold | undefined {
  const { bounds } = verdict
  const isTooCostly = verdict.isTooCostly && isFromFloat
  if (isStopped(verdict, isFromFloat)) return { type: isTooCostly ? 'too_costly' : 'paused' }
  const bound = bounds.find(({ by }) => isFromFloat || !usdcOnly.includes(by))
  return bound && amount > bound.max ? { type: 'too_large', bound } : undefined
}

/** @param isFromFloat paid in USDC; otherwise in a coin, which the payment processor takes */
export function isStopped({ action, coinAction, parts }: Verdict, isFromFloat: boolean): boolean {
  if (isFromFloat) return action === 'stop'
  return parts.processor?.state === 'down' || coinAction === 'stop'
}

const usdcOnly: readonly Bound['by'][] = ['refund_float', 'witness']

type BoundMeans = Omit<Means, 'funds'> & Pick<SupplierFacts, 'funds'>

function isFunds(funds: SupplierFacts['funds']): funds is Funds {
  return funds !== undefined && funds !== 'unbounded'
}

/** An unconfirmed payment is cheap and can be revoked, so all of them reserve at most half of the wallet. */
function reservedOf({ available, committed, unconfirmed }: Funds): Usdc {
  const half = usdc(available / 2n)
  return usdc(committed + (unconfirmed < half ? unconfirmed : half))
}

function boundsOf({ cover, funds, maxRefund, maxBorneOut }: BoundMeans): readonly Bound[] {
  const all: readonly (readonly [Bound['by'], Usdc | undefined])[] = [
    // A failing purchase costs its buyer nothing, so one may take at most a quarter of the free float.
    ['refund_float', cover && usdc(remainder(cover.float, cover.exposure) / 4n)],
    ['supplier_funds', isFunds(funds) ? remainder(funds.available, reservedOf(funds)) : undefined],
    ['refund_cap', maxRefund],
    ['witness', maxBorneOut],
  ]
  return all
    .flatMap(([by, max]) => (max === undefined ? [] : [{ by, max }]))
    .sort((one, other) => Number(one.max - other.max))
}

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

function feeHealth({ settlement }: Partial<Gas> = {}): PartHealth {
  if (!settlement || settlement.cost <= settlement.most) return healthy
  return down(
    `The network is dear: a payment costs ${ether(settlement.cost)} ETH to settle, and MAX_SETTLEMENT_GWEI allows ${ether(settlement.most)}. Sales in USDC go on by themselves when it is cheaper.`,
  )
}

const healthy: PartHealth = { state: 'healthy', detail: '' }

function down(detail: string): PartHealth {
  return { state: 'down', detail }
}

function worseOf(one: PartHealth, other: PartHealth): PartHealth {
  const order: readonly PartHealth['state'][] = ['healthy', 'degraded', 'down']
  return order.indexOf(other.state) > order.indexOf(one.state) ? other : one
}

function remainder(available: Usdc, reserved: Usdc): Usdc {
  return usdc(available > reserved ? available - reserved : 0n)
}

function ether(wei: bigint): string {
  return (Number(wei) / 1e18).toPrecision(3)
}

export interface Signals {
  readonly provider_health: 'healthy' | 'degraded' | 'down'
  readonly agent_action: 'pay' | 'retry_later' | 'stop'
  readonly last_updated: string
  /** Present while the operator has paused sales. */
  readonly reason?: string
}

type Part = 'supplier' | 'chain' | 'database' | 'catalog' | 'refunds' | 'gas' | 'sales'

export interface PartHealth {
  readonly state: Signals['provider_health']
  readonly detail: string
}

/** The payment processor is there only if it is configured. While it is down, purchases in USDC go on. */
export type Parts = Readonly<Record<Part, PartHealth>> & { readonly processor?: PartHealth }

/**
 * Purchases stop while a part is down, because money could move without a record, proof or cover. They are for agents,
 * who pay by x402 alone, so they say stop while that is paused.
 */
export function signalsOf({ processor = healthy, ...parts }: Parts, now: Date): Signals {
  const worst = Object.values(parts).reduce(worseOf).state
  const isPaused = parts.sales.state !== 'healthy'
  return {
    provider_health: worst === 'healthy' && processor.state !== worst ? 'degraded' : worst,
    agent_action: isPaused ? 'stop' : actions[worst],
    last_updated: now.toISOString(),
    ...(isPaused ? { reason: parts.sales.detail } : {}),
  }
}

const actions = { healthy: 'pay', degraded: 'retry_later', down: 'stop' } as const

const windowMs = 5 * 60_000
const maxOutcomes = 200
const outageFailures = 3

interface Outcome {
  readonly at: number
  readonly ok: boolean
  readonly detail: string
}

export interface Tally {
  readonly good: number
  readonly failed: number
}

export function keepOutcomes(now: () => Date) {
  let outcomes: readonly Outcome[] = []

  function recent(): readonly Outcome[] {
    const since = now().getTime() - windowMs
    return outcomes.filter(({ at }) => at >= since)
  }

  return {
    recent,
    note(ok: boolean, detail = '') {
      outcomes = [...outcomes.slice(1 - maxOutcomes), { at: now().getTime(), ok, detail }]
    },
    tally(): Tally {
      const all = recent()
      const good = all.filter(({ ok }) => ok).length
      return { good, failed: all.length - good }
    },
  }
}

/** Down while the newest outcomes are all failures; degraded while over a quarter of all are. */
export function healthOf(recent: readonly Outcome[]): PartHealth {
  const failures = recent.filter(({ ok }) => !ok)
  const newest = recent.slice(-outageFailures)
  if (newest.length === outageFailures && newest.every(({ ok }) => !ok)) {
    return { state: 'down', detail: newest.at(-1)?.detail ?? '' }
  }
  if (failures.length * 4 > recent.length) {
    return { state: 'degraded', detail: failures.at(-1)?.detail ?? '' }
  }
  return { state: 'healthy', detail: '' }
}
