/** The description of a metric, for `/metrics` and docs/operators/metrics.md. Names end with their unit. */
export interface Metric {
  /** A counter never decreases, as `rate` requires. */
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  /** A note for the document only. */
  readonly note?: string
  /** Set when the metric may be absent. */
  readonly isSometimesAbsent?: true
}

type About = Partial<Omit<Metric, 'help'>>

const metric = (help: string, about: About = {}): Metric => ({
  type: 'gauge',
  labels: [],
  ...about,
  help,
})

/** All metrics of the store, in the order of the document. */
export const metrics = {
  kiosk402_up: metric('1 if the part is up, otherwise 0.', {
    labels: ['part'],
    note: 'The parts are supplier, chain, database, catalog, refunds and gas. The supplier, refunds or gas is also down while its wallet does not suffice. With several suppliers, 0 means that all are down.',
  }),
  kiosk402_takes_purchases: metric('1 if purchases are accepted, otherwise 0.', {
    note: 'It is 0 while the signals say `stop`.',
  }),
  kiosk402_purchase_most_usdc: metric('Current maximum price of one purchase, by limit.', {
    labels: ['by'],
    note: 'The limits are the float (`refund_float`), the caps (`refund_cap`), the wallet at the supplier (`supplier_funds`) and, while no witness answers, `WITNESS_ABOVE_USDC` (`witness`).',
  }),
  kiosk402_nodes: metric('Processes that serve the store, by node and version.', {
    labels: ['node', 'version'],
    note: 'A node is named by its host and port.',
  }),
  kiosk402_nodes_disagree: metric(
    '1 for each setting in which a node differs from this one; absent while all agree.',
    {
      labels: ['node', 'setting'],
      note: 'Only [settings that must agree](docs/operators/configuration.md#settings-that-must-agree) are compared.',
      isSometimesAbsent: true,
    },
  ),
  kiosk402_orders: metric('Orders on record, by state.', { labels: ['state'] }),
  kiosk402_oldest_open_order_age_seconds: metric(
    'Age of the oldest order whose buyer waits for goods or money, or 0.',
  ),
  kiosk402_refunds_pending: metric('Refunds in progress.'),
  kiosk402_refunds_failed: metric('Refunds that need an operator.'),
  kiosk402_goodwill_failed: metric('Goodwill that failed and needs an operator.'),
  kiosk402_checkouts: metric(
    'Checkouts in coins that are under way or still watched for payments, by state.',
    { labels: ['state'] },
  ),
  kiosk402_returns_pending: metric('Returns of checkouts in progress.'),
  kiosk402_returns_failed: metric('Returns of checkouts that need an operator.', {
    note: 'Those that you pay by hand are among them.',
  }),
  kiosk402_oldest_return_age_seconds: metric('Age of the oldest return that is not sent, or 0.'),
  kiosk402_payouts_late: metric(
    'Payouts in coins that have waited at the payment processor for three hours.',
  ),
  kiosk402_open_exposure_usdc: metric(
    'USDC paid for orders that are neither delivered nor refunded, and goodwill to be paid.',
  ),
  kiosk402_refunds_stopped: metric('1 if an operator has stopped all refunds, otherwise 0.'),
  kiosk402_refunds_granted_usdc: metric(
    'Refunds granted in the last hour and day, which their caps count.',
    { labels: ['window'] },
  ),
  kiosk402_returns_granted_usdc: metric(
    'Returns granted in the last hour and day, which their caps count.',
    { labels: ['window'] },
  ),
  kiosk402_refund_wallet_balance_usdc: metric('Balance of the refund wallet.', {
    note: 'This is the float; keep it above the exposure.',
  }),
  kiosk402_gas_wallet_balance_eth: metric('Balance of the gas wallet.'),
  kiosk402_gas_wallet_need_eth: metric(
    'Cost of all open refunds and 20 further transfers at the current gas price.',
  ),
  kiosk402_chain_head_age_seconds: metric('Age of the newest block.'),
  kiosk402_chain_safe_head_age_seconds: metric('Age of the newest block that cannot be dropped.'),
  kiosk402_supplier_up: metric('1 if the supplier is up, otherwise 0.', {
    labels: ['supplier'],
    note: 'It is also 0 while the wallet there does not suffice.',
  }),
  kiosk402_supplier_success_ratio: metric(
    'Share of calls that the supplier answered in the last 5 minutes.',
    { labels: ['supplier'] },
  ),
  kiosk402_supplier_wallet_balance: metric(
    'Balance of the wallet at the supplier, in whole units of its currency.',
    { labels: ['currency', 'supplier'] },
  ),
  kiosk402_catalog_age_seconds: metric('Time since the catalog was read from the suppliers.'),
  kiosk402_catalog_offers_on_sale: metric('Offers that can be bought.'),
  kiosk402_catalog_offers_set_aside: metric(
    'Offers of the suppliers that are rejected, by reason.',
    {
      labels: ['reason'],
    },
  ),
  kiosk402_exchange_rates_age_seconds: metric('Time since the exchange rates were published.'),
  kiosk402_http_requests_total: metric('Requests answered, by route pattern, method and status.', {
    type: 'counter',
    labels: ['route', 'method', 'status'],
  }),
  kiosk402_http_request_duration_seconds: metric('Request duration, by route pattern and method.', {
    type: 'histogram',
    labels: ['route', 'method'],
  }),
  kiosk402_purchases_total: metric('Finished purchases of the whole store, by outcome.', {
    type: 'counter',
    labels: ['outcome'],
    note: 'Since its first day: `delivered`, `failed`, `expired`, `payment_failed`.',
  }),
  kiosk402_webhook_events_pending: metric('Events that wait for the webhook of a buyer.'),
  kiosk402_oldest_webhook_event_age_seconds: metric('Age of the oldest of these events, or 0.', {
    note: 'It rises to three days while a receiver is down. That is the receiver’s problem, unless all are down.',
  }),
  kiosk402_webhook_deliveries_total: metric('Attempts to deliver such an event, by outcome.', {
    type: 'counter',
    labels: ['outcome'],
    note: 'The outcomes are `delivered`, `failed` (tried again) and `given_up`.',
  }),
  kiosk402_events_total: metric('Events for the operator, by name.', {
    type: 'counter',
    labels: ['event'],
    note: 'The events are those [of the log](docs/operators/operations.md#log).',
  }),
} satisfies Record<`kiosk402_${string}`, Metric>

export type MetricName = keyof typeof metrics
