import { type Usdc, usdcDecimals } from '../lib/money.ts'
import { moves, type State } from '../orders/order.ts'
import { hoursLeft, type StoreState } from './store-state.ts'

type Rows = readonly (readonly [...labels: string[], value: number])[]

export interface Metric {
  readonly help: string
  /** A counter never decreases, as `rate` requires. */
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly labels: readonly string[]
  /** Left out while unknown, because alerts would take a 0 as real. */
  readonly readValue?: (state: StoreState) => number | Rows | undefined
  /** For the document only. */
  readonly note?: string
  readonly isSometimesAbsent?: true
}

type About = Partial<Pick<Metric, 'type' | 'labels' | 'note' | 'isSometimesAbsent'>>

const metric = (help: string, read: Metric['readValue'], about: About = {}): Metric => ({
  type: 'gauge',
  labels: [],
  ...about,
  help,
  ...(read && { readValue: read }),
})

export const metrics = {
  kiosk402_up: metric(
    '1 if the part is up, otherwise 0.',
    ({ parts }) =>
      Object.entries(parts).map(([part, { state }]) => [part, Number(state !== 'down')]),
    {
      labels: ['part'],
      note: 'The parts are supplier, chain, database, catalog, refunds, gas, sales and, if it is configured, processor. The supplier, refunds or gas is also down while its wallet does not suffice, and gas while a settlement costs more than `MAX_SETTLEMENT_GWEI`. With several suppliers, 0 means that all are down. Sales are down while the operator has paused all. The processor stops only sales in coins.',
    },
  ),
  kiosk402_takes_purchases: metric(
    '1 if purchases are accepted, otherwise 0.',
    ({ takesPurchases }) => Number(takesPurchases),
    { note: 'It is 0 while the signals say `stop`.' },
  ),
  kiosk402_sales_paused: metric(
    '1 if an operator has paused all sales, or those for USDC, otherwise 0.',
    ({ parts }) => Number(parts.sales.state !== 'healthy'),
  ),
  kiosk402_purchase_most_usdc: metric(
    'Current maximum price of one purchase, by limit.',
    ({ bounds }) => bounds.map(({ by, max }) => [by, wholeUsdc(max)]),
    {
      labels: ['by'],
      note: 'The limits are the float (`refund_float`), the caps (`refund_cap`), the wallet at the supplier (`supplier_funds`) and, while no witness answers, `WITNESS_ABOVE_USDC` (`witness`).',
    },
  ),
  kiosk402_nodes: metric(
    'Processes that serve the store, by node and version.',
    ({ nodes }) =>
      [...Map.groupBy(nodes.processes, (one) => JSON.stringify([one.node, one.version])).values()]
        .flatMap((alike) => alike.slice(0, 1).map((one) => ({ ...one, count: alike.length })))
        .map(({ node, version, count }) => [node, version, count]),
    { labels: ['node', 'version'], note: 'A node is named by its host and port.' },
  ),
  kiosk402_nodes_disagree: metric(
    '1 for each setting in which a node differs from this one; absent while all agree.',
    ({ nodes }) => nodes.disagreements.map(({ node, setting }) => [node, setting, 1]),
    {
      labels: ['node', 'setting'],
      note: 'Only [settings that must agree](docs/operators/configuration.md#settings-that-must-agree) are compared.',
      isSometimesAbsent: true,
    },
  ),
  kiosk402_orders: metric(
    'Orders on record, by state.',
    ({ orders }) =>
      orders && Object.keys(moves).map((state) => [state, orders.byState[state as State] ?? 0]),
    { labels: ['state'] },
  ),
  kiosk402_oldest_open_order_age_seconds: metric(
    'Age of the oldest order whose buyer waits for goods or money, or 0.',
    ({ orders }) => orders && (orders.oldestOpenSeconds ?? 0),
  ),
  kiosk402_refunds_failed: metric(
    'Refunds that need an operator.',
    ({ orders }) => orders?.refundsFailed,
  ),
  kiosk402_goodwill_failed: metric(
    'Goodwill that failed and needs an operator.',
    ({ orders }) => orders?.goodwillFailed,
  ),
  kiosk402_returns_failed: metric(
    'Returns of checkouts that need an operator.',
    ({ checkouts }) => checkouts?.returnsFailed,
    { note: 'Those that you pay by hand are among them.' },
  ),
  kiosk402_oldest_return_age_seconds: metric(
    'Age of the oldest return that is not sent, or 0.',
    ({ checkouts, now }) => checkouts && (ageOf(checkouts.oldestReturnSince, now) ?? 0),
  ),
  kiosk402_payouts_late: metric(
    'Payouts in coins that have waited at the payment processor for three hours.',
    ({ checkouts }) => checkouts?.payoutsLate,
  ),
  kiosk402_open_exposure_usdc: metric(
    'USDC paid for orders that are neither delivered nor refunded, and goodwill to be paid.',
    ({ orders }) => orders && wholeUsdc(orders.exposure),
  ),
  kiosk402_refunds_stopped: metric(
    '1 if an operator has stopped all refunds, otherwise 0.',
    ({ orders }) => orders && Number(orders.refundsStopped),
  ),
  kiosk402_refund_wallet_balance_usdc: metric(
    'Balance of the refund wallet.',
    ({ chain }) => chain && wholeUsdc(chain.refundFloat),
    { note: 'This is the float; keep it above the exposure.' },
  ),
  kiosk402_gas_wallet_balance_eth: metric(
    'Balance of the gas wallet.',
    ({ chain }) => chain && Number(chain.gasWei) / 1e18,
  ),
  kiosk402_gas_wallet_need_eth: metric(
    'Cost of all open refunds and 20 further transfers at the current gas price.',
    ({ gas }) => gas && Number(gas.need) / 1e18,
  ),
  kiosk402_wallet_hours_left: metric(
    'How long a wallet lasts at the pace of the last week.',
    hoursLeft,
    {
      labels: ['wallet', 'supplier'],
      note: 'The wallets are refund_float, gas and supplier, the last for each supplier whose wallet is in USD. Absent for a wallet that nothing was paid from in that week.',
      isSometimesAbsent: true,
    },
  ),
  kiosk402_run_age_seconds: metric(
    'Time since a recurring act of the operator came to its end.',
    ({ runs, now }) =>
      runs && Array.from(runs, ([what, { endedAt }]) => [what, ageOf(endedAt, now) ?? 0]),
    {
      labels: ['what'],
      note: 'The acts are reconcile, backup and restore_drill. One that was never done is as old as the store.',
    },
  ),
  kiosk402_reconcile_differs: metric(
    '1 if the last reconciliation found a difference, otherwise 0.',
    ({ runs }) => runs && Number(runs.get('reconcile')?.result === 'differs'),
  ),
  kiosk402_chain_head_age_seconds: metric('Age of the newest block.', ({ chain, now }) =>
    ageOf(chain?.headAt, now),
  ),
  kiosk402_chain_safe_head_age_seconds: metric(
    'Age of the newest block that cannot be dropped.',
    ({ chain, now }) => ageOf(chain?.safeHeadAt, now),
  ),
  kiosk402_supplier_up: metric(
    '1 if the supplier is up, otherwise 0.',
    ({ suppliers }) => Array.from(suppliers, ([name, { isUp }]) => [name, Number(isUp)]),
    { labels: ['supplier'], note: 'It is also 0 while the wallet there does not suffice.' },
  ),
  kiosk402_supplier_success_ratio: metric(
    'Share of calls that the supplier answered in the last 5 minutes.',
    ({ suppliers }) =>
      Array.from(suppliers, ([name, { calls }]) => ({ name, ...calls }))
        .filter(({ good, failed }) => good + failed > 0)
        .map(({ name, good, failed }) => [name, good / (good + failed)]),
    { labels: ['supplier'] },
  ),
  kiosk402_supplier_wallet_balance: metric(
    'Balance of the wallet at the supplier, in whole units of its currency.',
    ({ suppliers }) =>
      [...suppliers].flatMap(([name, { wallet }]) =>
        wallet ? [[wallet.currency, name, wallet.available] as const] : [],
      ),
    { labels: ['currency', 'supplier'] },
  ),
  kiosk402_catalog_age_seconds: metric(
    'Time since the catalog was read from the suppliers.',
    ({ catalog, now }) => ageOf(catalog.readAt, now),
  ),
  kiosk402_catalog_offers_on_sale: metric(
    'Offers that can be bought.',
    ({ catalog }) => catalog.onSale,
  ),
  kiosk402_catalog_offers_set_aside: metric(
    'Offers of the suppliers that are rejected, by reason.',
    ({ catalog }) => Object.entries(catalog.rejected),
    { labels: ['reason'] },
  ),
  kiosk402_offers_below_margin: metric(
    'Offers of which a sale of the last day earned less than the least margin.',
    ({ belowMargin }) => belowMargin,
    { note: 'The supplier charged more than its list said (`charge_rose`).' },
  ),
  kiosk402_exchange_rates_age_seconds: metric(
    'Time since the exchange rates were published.',
    ({ ratesAsOf, now }) => ageOf(ratesAsOf, now),
  ),
  kiosk402_http_requests_total: metric(
    'Requests answered, by route pattern, method and status.',
    undefined,
    { type: 'counter', labels: ['route', 'method', 'status'] },
  ),
  kiosk402_http_request_duration_seconds: metric(
    'Request duration, by route pattern and method.',
    undefined,
    { type: 'histogram', labels: ['route', 'method'] },
  ),
  kiosk402_purchases_total: metric(
    'Finished purchases of the whole store, by outcome.',
    ({ orders }) =>
      orders && [
        ['delivered', orders.ended.FULFILLED ?? 0],
        ['failed', orders.ended.FULFILLMENT_FAILED ?? 0],
        ['expired', orders.ended.EXPIRED ?? 0],
        ['payment_failed', orders.ended.PAYMENT_FAILED ?? 0],
      ],
    {
      type: 'counter',
      labels: ['outcome'],
      note: 'Since its first day: `delivered`, `failed`, `expired`, `payment_failed`.',
    },
  ),
  kiosk402_webhook_events_pending: metric(
    'Events that wait for the webhook of a buyer.',
    ({ webhookEvents }) => webhookEvents,
  ),
  kiosk402_webhook_deliveries_total: metric(
    'Attempts to deliver such an event, by outcome.',
    undefined,
    {
      type: 'counter',
      labels: ['outcome'],
      note: 'The outcomes are `delivered`, `failed` (tried again) and `given_up`.',
    },
  ),
  kiosk402_events_total: metric('Events for the operator, by name.', undefined, {
    type: 'counter',
    labels: ['event'],
    note: 'The events are those [of the log](docs/operators/operations.md#log).',
  }),
} satisfies Record<`kiosk402_${string}`, Metric>

export type MetricName = keyof typeof metrics

/** Never negative: another machine's clock may be ahead of this one's. */
function ageOf(then: Date | undefined, now: Date): number | undefined {
  return then && Math.max(0, (now.getTime() - then.getTime()) / 1_000)
}

function wholeUsdc(amount: Usdc): number {
  return Number(amount) / 10 ** usdcDecimals
}
