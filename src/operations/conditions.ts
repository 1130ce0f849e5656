import type { RecurringAct } from './ports.ts'
import { hoursLeft, type StoreState } from './store-state.ts'

interface Held {
  /** What it concerns, if a condition can hold for several at once; otherwise empty. */
  readonly subject: string
  /** A sentence for the operator, without codes and personal fields. */
  readonly text: string
}

export interface Condition {
  /** The rule of deploy/alerts.yml that says the same; a test compares them. */
  readonly alert: string
  /** `critical` needs a person now, `warning` today. */
  readonly severity: 'critical' | 'warning'
  /** How long it must hold before anybody is told. */
  readonly forMinutes: number
  /** What to do, with the command. */
  readonly mend: string
  /** Undefined while it cannot be judged: what is unknown neither begins nor ends. */
  readonly holds: (state: StoreState) => readonly Held[] | undefined
}

/** A wallet that lasts for less at the pace of the last week is low: a weekend. */
const lowHours = 48
const hourMs = 3_600_000

/** How many hours ago each may be. Nightly and daily acts may miss one night, the weekly one a week. */
const acts: Readonly<Record<RecurringAct, readonly [maxHours: number, what: string]>> = {
  reconcile: [50, 'The record was last compared with chain, suppliers and payment processor'],
  backup: [50, 'The last backup was made'],
  restore_drill: [15 * 24, 'A backup was last restored as a drill'],
}

/** All that the store tells its operator by itself. Metrics and Prometheus rules are made of the same facts. */
export const conditions: Readonly<Record<string, Condition>> = {
  part_down: {
    ...{ alert: 'Kiosk402PartDown', severity: 'critical', forMinutes: 1 },
    mend: "journalctl -u 'kiosk402@*' -g part_down says why, and so does /readyz with METRICS_TOKEN. supplier, refunds and gas may need money: docs/operators/treasury.md. While the network is dear, wait, or raise MAX_SETTLEMENT_GWEI.",
    holds: ({ parts: { processor: _, sales: __, ...parts } }) =>
      Object.entries(parts).flatMap(([part, { state, detail }]) =>
        when(
          state === 'down',
          `Nothing is sold for USDC, because ${part} is down: ${detail}`,
          part,
        ),
      ),
  },
  supplier_down: {
    ...{ alert: 'Kiosk402SupplierDown', severity: 'warning', forMinutes: 1 },
    mend: 'part_down in the log says why: its API, or the wallet there. The offers of the other suppliers are sold meanwhile.',
    holds: ({ parts, suppliers }) =>
      [...suppliers].flatMap(([name, { isUp }]) => {
        const isOneOfMany = !isUp && parts.supplier.state !== 'down'
        return when(isOneOfMany, `The offers of ${name} are not sold: it is down.`, name)
      }),
  },
  processor_down: {
    ...{ alert: 'Kiosk402ProcessorDown', severity: 'critical', forMinutes: 1 },
    mend: 'Look at BTCPay Server: does it run, is its disk full, do its nodes follow their chains? docs/operators/payment-processor.md. Sales in USDC go on.',
    holds: ({ parts: { processor } }) =>
      when(
        processor?.state === 'down',
        `Coins are not taken, because BTCPay Server does not answer: ${processor?.detail}`,
      ),
  },
  wallet_low: {
    ...{ alert: 'Kiosk402WalletLow', severity: 'warning', forMinutes: 5 },
    mend: 'Fill it before it is empty: refund_float is the wallet of REFUND_KEY (USDC), gas that of GAS_KEY (ETH), supplier the one at the supplier. docs/operators/treasury.md.',
    holds: (state) =>
      hoursLeft(state)?.flatMap(([wallet, supplier, hours]) => {
        const subject = [wallet, supplier].join(' ').trim()
        const text = `The wallet ${subject} lasts for ${Math.floor(hours)} hours at the pace of the last week.`
        return when(hours < lowHours, text, subject)
      }),
  },
  refund_failed: {
    ...{ alert: 'Kiosk402RefundFailed', severity: 'critical', forMinutes: 1 },
    mend: 'kiosk402 refund status names them and the reason; mend that, then kiosk402 refund retry --all.',
    holds: ({ orders }) => some(orders?.refundsFailed, 'refunds failed and wait for you.'),
  },
  return_failed: {
    ...{ alert: 'Kiosk402ReturnFailed', severity: 'critical', forMinutes: 1 },
    mend: 'kiosk402 refund status lists those to be paid by hand; note them with kiosk402 refund paid. For the others: kiosk402 refund retry.',
    holds: ({ checkouts }) =>
      some(checkouts?.returnsFailed, 'returns of coins failed and wait for you.'),
  },
  goodwill_failed: {
    ...{ alert: 'Kiosk402GoodwillFailed', severity: 'warning', forMinutes: 1 },
    mend: 'kiosk402 refund status names it and the reason; mend that, then kiosk402 refund retry --all. What can never be paid: kiosk402 refund drop.',
    holds: ({ orders }) => some(orders?.goodwillFailed, 'times goodwill failed and waits for you.'),
  },
  sales_paused: {
    ...{ alert: 'Kiosk402SalesPaused', severity: 'warning', forMinutes: 30 },
    mend: 'kiosk402 sales status says since when and why; kiosk402 sales resume ends it.',
    holds: ({ parts: { sales } }) => when(sales.state !== 'healthy', sales.detail),
  },
  refunds_stopped: {
    ...{ alert: 'Kiosk402RefundsStopped', severity: 'warning', forMinutes: 30 },
    mend: 'kiosk402 refund start, once the reason is gone.',
    holds: ({ orders }) =>
      orders && when(orders.refundsStopped, 'All refunds are stopped by hand.'),
  },
  reconcile_differs: {
    ...{ alert: 'Kiosk402ReconcileDiffers', severity: 'critical', forMinutes: 0 },
    mend: 'kiosk402 reconcile names each difference and what to do: docs/operators/reconciliation.md.',
    holds: ({ runs }) =>
      runs &&
      when(
        runs.get('reconcile')?.result === 'differs',
        'The record differs from chain, suppliers or payment processor.',
      ),
  },
  run_old: {
    ...{ alert: 'Kiosk402RunOld', severity: 'warning', forMinutes: 0 },
    mend: "systemctl list-timers 'kiosk402-*' and journalctl -u kiosk402-reconcile (or -backup, -restore-drill) say why; then kiosk402 reconcile, kiosk402 backup or kiosk402 restore --check by hand. The timers: docs/operators/backups.md.",
    holds: ({ runs, now }) =>
      runs &&
      [...runs].flatMap(([subject, { endedAt }]) => {
        const hours = (now.getTime() - endedAt.getTime()) / hourMs
        const [maxHours, what] = acts[subject]
        return when(hours > maxHours, `${what} ${Math.floor(hours)} hours ago.`, subject)
      }),
  },
  catalog_old: {
    ...{ alert: 'Kiosk402CatalogOld', severity: 'warning', forMinutes: 5 },
    mend: 'The log has the reason after each reading (catalog). docs/operators/operations.md: When the catalog shrinks.',
    holds: ({ catalog: { readAt }, now }) =>
      readAt &&
      when(
        now.getTime() - readAt.getTime() > hourMs,
        `The catalog was last read at ${readAt.toISOString()}; prices may be stale.`,
      ),
  },
  below_margin: {
    ...{ alert: 'Kiosk402BelowMargin', severity: 'warning', forMinutes: 0 },
    mend: 'charge_rose in the log names the orders. kiosk402 price set raises the margin, kiosk402 sales pause stops the offers; ask the supplier about its list.',
    holds: ({ belowMargin }) =>
      some(
        belowMargin,
        'offers earned less than the least margin in the last day: their supplier charged more than it listed.',
      ),
  },
}

function some(count: number | undefined, text: string): readonly Held[] | undefined {
  return count === undefined ? undefined : when(count > 0, `${count} ${text}`)
}

function when(holds: boolean, text: string, subject = ''): readonly Held[] {
  return holds ? [{ subject, text }] : []
}
