import { usdc } from '../lib/money.ts'
import type { LastRuns } from './ports.ts'
import type { StoreState } from './store-state.ts'

const well = { state: 'healthy', detail: '' } as const
const down = { state: 'down', detail: 'It is away.' } as const
const now = new Date('2026-03-01T12:00:00Z')
const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000)

const runsAgo = (reconcile: number, backup: number, drill: number): LastRuns =>
  new Map([
    ['reconcile', { endedAt: ago(reconcile), result: 'good' }],
    ['backup', { endedAt: ago(backup), result: 'good' }],
    ['restore_drill', { endedAt: ago(drill), result: 'good' }],
  ])

const supplier = {
  isUp: true,
  calls: { good: 1, failed: 0 },
  wallet: { available: 100, currency: 'USD' },
}

/** A cautious beginner: some hundred dollars in all wallets, and ten sales a week. */
export function wellState(changes: Partial<StoreState> = {}): StoreState {
  return {
    now,
    parts: {
      ...{ supplier: well, chain: well, database: well, catalog: well, refunds: well },
      ...{ gas: well, processor: well, sales: well },
    },
    bounds: [
      { by: 'refund_float', max: usdc(25_000_000n) },
      { by: 'supplier_funds', max: usdc(100_000_000n) },
    ],
    gas: { balance: 10n ** 15n, need: 10n ** 14n },
    takesPurchases: true,
    orders: {
      byState: {},
      ended: {},
      oldestOpenSeconds: undefined,
      refundsFailed: 0,
      goodwillFailed: 0,
      exposure: usdc(0n),
      refundsStopped: false,
    },
    checkouts: { openByState: {}, returnsFailed: 0, payoutsLate: 0, oldestReturnSince: undefined },
    webhookEvents: 0,
    pace: {
      refunds: 10_000_000 / 168,
      transfers: 12 / 168,
      suppliers: new Map([['zendit', 100_000_000 / 168]]),
    },
    runs: runsAgo(20, 30, 100),
    chain: {
      headAt: now,
      safeHeadAt: ago(0.01),
      refundFloat: usdc(100_000_000n),
      gasWei: 10n ** 15n,
    },
    suppliers: new Map([
      ['zendit', supplier],
      ['acme', supplier],
    ]),
    nodes: { processes: [], disagreements: [] },
    catalog: { readAt: ago(0.2), onSale: 11_000, rejected: {} },
    ratesAsOf: ago(20),
    belowMargin: 0,
    ...changes,
  }
}

const { parts, orders, checkouts, pace, catalog } = wellState()

/** For each condition, states of the store in which it alone holds. */
export const ills: Readonly<Record<string, readonly Partial<StoreState>[]>> = {
  part_down: [{ parts: { ...parts, gas: down } }, { parts: { ...parts, chain: down } }],
  supplier_down: [
    {
      suppliers: new Map([
        ['zendit', supplier],
        ['acme', { ...supplier, isUp: false }],
      ]),
    },
  ],
  processor_down: [{ parts: { ...parts, processor: down } }],
  wallet_low: [
    { pace: pace && { ...pace, refunds: 3_000_000 } },
    { pace: pace && { ...pace, transfers: 10 } },
    { pace: pace && { ...pace, suppliers: new Map([['zendit', 3_000_000]]) } },
  ],
  refund_failed: [{ orders: orders && { ...orders, refundsFailed: 1 } }],
  return_failed: [{ checkouts: checkouts && { ...checkouts, returnsFailed: 1 } }],
  goodwill_failed: [{ orders: orders && { ...orders, goodwillFailed: 1 } }],
  sales_paused: [{ parts: { ...parts, sales: down } }],
  refunds_stopped: [{ orders: orders && { ...orders, refundsStopped: true } }],
  reconcile_differs: [
    {
      runs: new Map([...runsAgo(20, 30, 100), ['reconcile', { endedAt: now, result: 'differs' }]]),
    },
  ],
  run_old: [
    { runs: runsAgo(51, 30, 100) },
    { runs: runsAgo(20, 51, 100) },
    { runs: runsAgo(20, 30, 361) },
  ],
  catalog_old: [{ catalog: { ...catalog, readAt: ago(1.1) } }],
  below_margin: [{ belowMargin: 3 }],
}
