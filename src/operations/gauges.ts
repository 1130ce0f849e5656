import { type CheckoutState, checkoutMoves } from '../checkouts/checkout.ts'
import type { CheckoutFacts } from '../checkouts/ports.ts'
import type { Tally } from '../health/outcomes.ts'
import type { Parts } from '../health/signals.ts'
import type { Bound, Gas } from '../health/verdict.ts'
import { type Usdc, usdcDecimals } from '../lib/money.ts'
import { moves, type State } from '../orders/order.ts'
import type { OrderFacts } from '../orders/ports.ts'
import type { WebhookFacts } from '../orders/webhooks/ports.ts'
import type { ChainFacts } from '../payments/ports.ts'
import type { MetricName } from './metric-list.ts'

/** The store's wallet at the supplier, in whole units of its currency. */
export interface SupplierWallet {
  readonly available: number
  readonly currency: string
}

interface SupplierSeen {
  readonly isUp: boolean
  readonly calls: Tally
  readonly wallet: SupplierWallet | undefined
}

/** The offers on sale and the rejected ones. */
export interface CatalogFacts {
  /** Undefined until the first catalog has been read. */
  readonly readAt: Date | undefined
  readonly onSale: number
  readonly rejected: Readonly<Record<string, number>>
}

/** The serving processes of the store, and the settings in which other nodes differ from this one. */
export interface NodesState {
  readonly processes: readonly { readonly node: string; readonly version: string }[]
  readonly disagreements: readonly { readonly node: string; readonly setting: string }[]
}

/** The state behind the gauges. A value that could not be read is undefined. */
export interface StoreState {
  readonly now: Date
  readonly parts: Parts
  /** The upper bounds on the price of a purchase. */
  readonly bounds: readonly Bound[]
  readonly gas: Gas | undefined
  readonly takesPurchases: boolean
  readonly orders: OrderFacts | undefined
  readonly checkouts: CheckoutFacts | undefined
  readonly webhooks: WebhookFacts | undefined
  readonly chain: ChainFacts | undefined
  readonly suppliers: ReadonlyMap<string, SupplierSeen>
  readonly nodes: NodesState
  readonly catalog: CatalogFacts
  /** The date of the newest exchange rates. */
  readonly ratesAsOf: Date | undefined
}

/** The current values of one metric. */
export interface Gauge {
  readonly name: MetricName
  readonly values: readonly GaugeValue[]
}

interface GaugeValue {
  readonly value: number
  readonly labels?: Readonly<Record<string, string>>
}

/** Computes the gauges. Unknown values are left out, because alerts would take a 0 as real. */
export function gaugesOf(state: StoreState): readonly Gauge[] {
  return [
    ...healthGauges(state),
    ...(state.orders ? orderGauges(state.orders) : []),
    ...(state.checkouts ? checkoutGauges(state.checkouts, state.now) : []),
    ...(state.webhooks ? webhookGauges(state.webhooks) : []),
    ...(state.chain ? chainGauges(state.chain, state.now) : []),
    ...supplierGauges(state),
    ...catalogGauges(state),
    ...nodeGauges(state.nodes),
  ]
}

/** Reports the health from the parts' own calls. A slow scrape makes no part down. */
function healthGauges({ parts, bounds, gas, takesPurchases }: StoreState): Gauge[] {
  const values = Object.entries(parts).map(([part, { state }]) => ({
    labels: { part },
    value: Number(state !== 'down'),
  }))
  return [
    { name: 'kiosk402_up', values },
    one('kiosk402_takes_purchases', Number(takesPurchases)),
    {
      name: 'kiosk402_purchase_most_usdc',
      values: bounds.map(({ by, max }) => ({ labels: { by }, value: wholeUsdc(max) })),
    },
    one('kiosk402_gas_wallet_need_eth', gas && Number(gas.need) / 1e18),
  ]
}

/** The final states of a purchase, by the metric's label values. */
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
    { name: 'kiosk402_orders', values },
    {
      name: 'kiosk402_purchases_total',
      values: Object.entries(outcomes).map(([state, outcome]) => ({
        labels: { outcome },
        value: orders.ended[state as State] ?? 0,
      })),
    },
    one('kiosk402_oldest_open_order_age_seconds', orders.oldestOpenSeconds ?? 0),
    one('kiosk402_refunds_pending', orders.refundsPending),
    one('kiosk402_refunds_failed', orders.refundsFailed),
    one('kiosk402_goodwill_failed', orders.goodwillFailed),
    one('kiosk402_open_exposure_usdc', wholeUsdc(orders.exposure)),
    one('kiosk402_refunds_stopped', Number(orders.refundsStopped)),
    windowed('kiosk402_refunds_granted_usdc', orders.granted),
  ]
}

/** The granted amounts, by the time window of each cap. */
function windowed(name: MetricName, granted: Readonly<Record<string, Usdc>>): Gauge {
  return {
    name,
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
      values,
    },
    one('kiosk402_returns_pending', returnsPending),
    one('kiosk402_returns_failed', returnsFailed),
    one(
      'kiosk402_oldest_return_age_seconds',
      oldestReturnSince ? ageOf(oldestReturnSince, now) : 0,
    ),
    one('kiosk402_payouts_late', facts.payoutsLate),
    windowed('kiosk402_returns_granted_usdc', returnsGranted),
  ]
}

function webhookGauges({ pending, oldestPendingSeconds }: WebhookFacts): Gauge[] {
  return [
    one('kiosk402_webhook_events_pending', pending),
    one('kiosk402_oldest_webhook_event_age_seconds', oldestPendingSeconds ?? 0),
  ]
}

function chainGauges({ headAt, safeHeadAt, refundFloat, gasWei }: ChainFacts, now: Date): Gauge[] {
  return [
    one('kiosk402_chain_head_age_seconds', ageOf(headAt, now)),
    one('kiosk402_chain_safe_head_age_seconds', ageOf(safeHeadAt, now)),
    one('kiosk402_refund_wallet_balance_usdc', wholeUsdc(refundFloat)),
    one('kiosk402_gas_wallet_balance_eth', Number(gasWei) / 1e18),
  ]
}

function supplierGauges({ suppliers }: StoreState): Gauge[] {
  const of = (read: (seen: SupplierSeen, supplier: string) => GaugeValue | undefined) =>
    Array.from(suppliers, ([supplier, seen]) => read(seen, supplier) ?? []).flat()
  return [
    {
      name: 'kiosk402_supplier_up',
      values: of(({ isUp }, supplier) => ({ labels: { supplier }, value: Number(isUp) })),
    },
    {
      name: 'kiosk402_supplier_success_ratio',
      values: of(({ calls: { good, failed } }, supplier) =>
        good + failed === 0 ? undefined : { labels: { supplier }, value: good / (good + failed) },
      ),
    },
    {
      name: 'kiosk402_supplier_wallet_balance',
      values: of(
        ({ wallet }, supplier) =>
          wallet && { labels: { currency: wallet.currency, supplier }, value: wallet.available },
      ),
    },
  ]
}

function nodeGauges({ processes, disagreements }: NodesState): Gauge[] {
  const alike = Map.groupBy(processes, ({ node, version }) => JSON.stringify([node, version]))
  return [
    {
      name: 'kiosk402_nodes',
      values: [...alike.values()].flatMap((same) =>
        same.slice(0, 1).map((labels) => ({ labels, value: same.length })),
      ),
    },
    {
      name: 'kiosk402_nodes_disagree',
      values: disagreements.map((labels) => ({ labels, value: 1 })),
    },
  ]
}

function catalogGauges({ catalog, ratesAsOf, now }: StoreState): Gauge[] {
  const { readAt, onSale, rejected } = catalog
  return [
    one('kiosk402_catalog_age_seconds', readAt && ageOf(readAt, now)),
    one('kiosk402_catalog_offers_on_sale', onSale),
    {
      name: 'kiosk402_catalog_offers_set_aside',
      values: Object.entries(rejected).map(([reason, value]) => ({ labels: { reason }, value })),
    },
    one('kiosk402_exchange_rates_age_seconds', ratesAsOf && ageOf(ratesAsOf, now)),
  ]
}

function one(name: MetricName, value: number | undefined): Gauge {
  return { name, values: value === undefined ? [] : [{ value }] }
}

/** Never negative: another machine's clock may be ahead of this one's. */
function ageOf(then: Date, now: Date): number {
  return Math.max(0, (now.getTime() - then.getTime()) / 1_000)
}

function wholeUsdc(amount: Usdc): number {
  return Number(amount) / 10 ** usdcDecimals
}
