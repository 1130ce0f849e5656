import { type CheckoutState, checkoutMoves } from '../checkouts/checkout.ts'
import type { CheckoutFacts } from '../checkouts/ports.ts'
import type { Tally } from '../health/health.ts'
import type { Parts } from '../health/signals.ts'
import type { Bound, Gas } from '../health/verdict.ts'
import { type Usdc, usdcDecimals } from '../lib/money.ts'
import { moves, type State } from '../orders/order.ts'
import type { OrderFacts } from '../orders/ports.ts'
import type { ChainFacts } from '../payments/ports.ts'

/** The wallet that purchases at the supplier are paid from, in whole units of its currency. */
export interface SupplierWallet {
  readonly available: number
  readonly currency: string
}

/** What is on sale. */
export interface CatalogFacts {
  /** Undefined before the first list was read. */
  readonly readAt: Date | undefined
  readonly onSale: number
  readonly rejected: Readonly<Record<string, number>>
}

/** The processes of the store that serve, and in what other nodes differ from the one that is asked. */
export interface NodesSeen {
  readonly processes: readonly { readonly node: string; readonly version: string }[]
  readonly disagreements: readonly { readonly node: string; readonly setting: string }[]
}

/** Everything that can be told at one moment. What could not be seen just now is undefined. */
export interface Seen {
  readonly now: Date
  readonly parts: Parts
  /** What a purchase may cost at most. */
  readonly bounds: readonly Bound[]
  readonly gas: Gas | undefined
  readonly takesPurchases: boolean
  readonly orders: OrderFacts | undefined
  readonly checkouts: CheckoutFacts | undefined
  readonly chain: ChainFacts | undefined
  readonly supplierCalls: Tally
  readonly supplierWallet: SupplierWallet | undefined
  readonly nodes: NodesSeen
  readonly catalog: CatalogFacts
  /** The day that the newest exchange rates are of. */
  readonly ratesAsOf: Date | undefined
}

/** One metric as it stands. Names end with their unit (Prometheus naming). */
export interface Gauge {
  readonly name: string
  /** A count that never falls, for `rate`; a gauge where it is left out. */
  readonly type?: 'counter'
  readonly help: string
  readonly values: readonly GaugeValue[]
}

interface GaugeValue {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** What is not known is left out: a 0 in its place would be a lie that alarms trust. */
export function gaugesOf(seen: Seen): readonly Gauge[] {
  return [
    ...healthGauges(seen),
    ...(seen.orders ? orderGauges(seen.orders) : []),
    ...(seen.checkouts ? checkoutGauges(seen.checkouts, seen.now) : []),
    ...(seen.chain ? chainGauges(seen.chain, seen.now) : []),
    ...supplierGauges(seen),
    ...catalogGauges(seen),
    ...nodeGauges(seen.nodes),
  ]
}

/** Told by how the parts' own calls end: a look that takes long makes no part down. */
function healthGauges({ parts, bounds, gas, takesPurchases }: Seen): Gauge[] {
  const values = Object.entries(parts).map(([part, { state }]) => ({
    labels: { part },
    value: Number(state !== 'down'),
  }))
  return [
    { name: 'kiosk402_up', help: '1 if the part is up, otherwise 0.', values },
    one('takes_purchases', '1 if purchases are accepted, otherwise 0.', {
      value: Number(takesPurchases),
    }),
    {
      name: 'kiosk402_purchase_most_usdc',
      help: 'Current maximum price of one purchase, by what bounds it.',
      values: bounds.map(({ by, most }) => ({ labels: { by }, value: wholeUsdc(most) })),
    },
    one(
      'gas_wallet_need_eth',
      'What the gas wallet needs for the refunds that are open and 20 further transfers.',
      gas && { value: Number(gas.need) / 1e18 },
    ),
  ]
}

/** The ends of a purchase, in the words of the metric. */
const outcomes: Readonly<Partial<Record<State, string>>> = {
  FULFILLED: 'delivered',
  FULFILLMENT_FAILED: 'failed',
  EXPIRED: 'expired',
  PAYMENT_FAILED: 'payment_failed',
}

function orderGauges(orders: OrderFacts): Gauge[] {
  const states = Object.keys(moves) as State[]
  const values = states.map((state) => ({ labels: { state }, value: orders.byState[state] ?? 0 }))
  return [
    { name: 'kiosk402_orders', help: 'Orders on record, by state.', values },
    {
      name: 'kiosk402_purchases_total',
      type: 'counter',
      help: 'Finished purchases of the whole store, by outcome.',
      values: Object.entries(outcomes).map(([state, outcome]) => ({
        labels: { outcome },
        value: orders.ended[state as State] ?? 0,
      })),
    },
    one('oldest_open_order_age_seconds', 'Age of the oldest order whose buyer waits, or 0.', {
      value: orders.oldestOpenSeconds ?? 0,
    }),
    one('refunds_pending', 'Refunds in progress.', { value: orders.refundsPending }),
    one('refunds_failed', 'Refunds that need an operator.', { value: orders.refundsFailed }),
    one('open_exposure_usdc', 'Paid in USDC for orders that are neither delivered nor refunded.', {
      value: wholeUsdc(orders.exposure),
    }),
    one('refunds_stopped', '1 if an operator has stopped all refunds, otherwise 0.', {
      value: Number(orders.refundsStopped),
    }),
    windowed('kiosk402_refunds_granted_usdc', 'Refunds', orders.granted),
  ]
}

/** What was granted in each window of time that a cap counts. */
function windowed(name: string, what: string, granted: Readonly<Record<string, Usdc>>): Gauge {
  return {
    name,
    help: `${what} granted in the last hour and day, which their caps count.`,
    values: Object.entries(granted).map(([window, amount]) => ({
      labels: { window },
      value: wholeUsdc(amount),
    })),
  }
}

function checkoutGauges(facts: CheckoutFacts, now: Date): Gauge[] {
  const { openByState, returnsPending, returnsFailed, oldestReturnSince, returnsGranted } = facts
  const states = Object.keys(checkoutMoves) as CheckoutState[]
  const values = states
    .filter((state) => state !== 'REFUSED')
    .map((state) => ({ labels: { state }, value: openByState[state] ?? 0 }))
  return [
    {
      name: 'kiosk402_checkouts',
      help: 'Checkouts in coins that are under way or still watched for payments, by state.',
      values,
    },
    one('returns_pending', 'Returns of checkouts under way.', { value: returnsPending }),
    one('returns_failed', 'Returns of checkouts that wait for an operator.', {
      value: returnsFailed,
    }),
    one('oldest_return_age_seconds', 'Age of the oldest return that is not sent, or 0.', {
      value: oldestReturnSince ? ageOf(oldestReturnSince, now) : 0,
    }),
    one('payouts_late', 'Payouts in coins that wait at the payment processor for hours.', {
      value: facts.payoutsLate,
    }),
    windowed('kiosk402_returns_granted_usdc', 'Returns', returnsGranted),
  ]
}

function chainGauges({ headAt, safeHeadAt, refundFloat, gasWei }: ChainFacts, now: Date): Gauge[] {
  return [
    one('chain_head_age_seconds', 'Age of the newest block.', { value: ageOf(headAt, now) }),
    one('chain_safe_head_age_seconds', 'Age of the newest block that cannot be dropped.', {
      value: ageOf(safeHeadAt, now),
    }),
    one('refund_wallet_balance_usdc', 'Balance of the refund wallet.', {
      value: wholeUsdc(refundFloat),
    }),
    one('gas_wallet_balance_eth', 'Balance of the gas wallet.', { value: Number(gasWei) / 1e18 }),
  ]
}

function supplierGauges({ supplierCalls, supplierWallet }: Seen): Gauge[] {
  const { good, failed } = supplierCalls
  const calls = good + failed
  return [
    one(
      'supplier_success_ratio',
      'Share of calls that the supplier answered in the last 5 minutes.',
      calls === 0 ? undefined : { value: good / calls },
    ),
    one(
      'supplier_wallet_balance',
      'What the wallet at the supplier holds, in whole units of its currency.',
      supplierWallet && {
        value: supplierWallet.available,
        labels: { currency: supplierWallet.currency },
      },
    ),
  ]
}

function nodeGauges({ processes, disagreements }: NodesSeen): Gauge[] {
  const alike = Map.groupBy(processes, ({ node, version }) => JSON.stringify([node, version]))
  return [
    {
      name: 'kiosk402_nodes',
      help: 'Processes that serve the store, by the node they are on and their version.',
      values: [...alike.values()].flatMap((same) =>
        same.slice(0, 1).map((labels) => ({ labels, value: same.length })),
      ),
    },
    {
      name: 'kiosk402_nodes_disagree',
      help: '1 for each setting in which a node differs from this one; none while all agree.',
      values: disagreements.map((labels) => ({ labels, value: 1 })),
    },
  ]
}

function catalogGauges({ catalog, ratesAsOf, now }: Seen): Gauge[] {
  const { readAt, onSale, rejected } = catalog
  return [
    one(
      'catalog_age_seconds',
      'Time since the catalog was read from the supplier.',
      readAt && { value: ageOf(readAt, now) },
    ),
    one('catalog_offers_on_sale', 'Offers that can be bought.', { value: onSale }),
    {
      name: 'kiosk402_catalog_offers_set_aside',
      help: 'Offers of the supplier that are rejected, by reason.',
      values: Object.entries(rejected).map(([reason, value]) => ({ labels: { reason }, value })),
    },
    one(
      'exchange_rates_age_seconds',
      'Time since the exchange rates were published.',
      ratesAsOf && { value: ageOf(ratesAsOf, now) },
    ),
  ]
}

function one(name: string, help: string, value: GaugeValue | undefined): Gauge {
  return { name: `kiosk402_${name}`, help, values: value ? [value] : [] }
}

/** A clock that is a little ahead of ours makes nothing younger than now. */
function ageOf(then: Date, now: Date): number {
  return Math.max(0, (now.getTime() - then.getTime()) / 1_000)
}

function wholeUsdc(amount: Usdc): number {
  return Number(amount) / 10 ** usdcDecimals
}
