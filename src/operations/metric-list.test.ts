import { describe, expect, test } from 'vitest'
import { usdc } from '../lib/money.ts'
import { type Metric, metrics } from './metric-list.ts'
import type { StoreState } from './store-state.ts'

const well = { state: 'healthy', detail: '' } as const
const down = { state: 'down', detail: 'timeout' } as const
const now = new Date('2026-03-01T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000)

function seen(changes: Partial<StoreState> = {}): StoreState {
  return {
    now,
    parts: {
      ...{ supplier: well, chain: well, database: well, catalog: well, refunds: well, gas: well },
      sales: well,
    },
    bounds: [{ by: 'refund_float', max: usdc(2_500_000n) }],
    gas: { balance: 60_000_000_000_000_000n, need: 20_000_000_000_000_000n },
    takesPurchases: true,
    orders: {
      byState: { PAID: 2, FULFILLED: 40 },
      ended: { FULFILLED: 40, PAYMENT_FAILED: 9 },
      oldestOpenSeconds: 12.5,
      refundsFailed: 1,
      goodwillFailed: 2,
      exposure: usdc(12_500_001n),
      refundsStopped: true,
    },
    checkouts: {
      openByState: {},
      returnsFailed: 1,
      payoutsLate: 1,
      oldestReturnSince: ago(90),
    },
    webhookEvents: 3,
    pace: {
      refunds: 1_000_000,
      transfers: 2,
      suppliers: new Map([['zendit', 10_000_000]]),
    },
    runs: new Map([
      ['reconcile', { endedAt: ago(3_600), result: 'differs' }],
      ['backup', { endedAt: ago(-3), result: 'good' }],
    ]),
    chain: {
      headAt: ago(2),
      safeHeadAt: ago(60),
      refundFloat: usdc(900_000_000n),
      gasWei: 1_500_000_000_000_000_000n,
    },
    suppliers: new Map([
      [
        'zendit',
        {
          isUp: true,
          calls: { good: 3, failed: 1 },
          wallet: { available: 1_234.56, currency: 'USD' },
        },
      ],
      ['acme', { isUp: false, calls: { good: 0, failed: 0 }, wallet: undefined }],
    ]),
    nodes: {
      processes: [
        { node: 'a:8402', version: '1.0.0' },
        { node: 'b:8402', version: '1.1.0' },
        { node: 'b:8402', version: '1.1.0' },
      ],
      disagreements: [{ node: 'b:8402', setting: 'MARKUP_BPS' }],
    },
    catalog: { readAt: ago(900), onSale: 11_000, rejected: { no_price: 7 } },
    belowMargin: 4,
    ratesAsOf: ago(3_600),
    ...changes,
  }
}

/** The values by metric name and labels. */
function valuesOf(changes: Partial<StoreState> = {}): Record<string, number> {
  const pairs = Object.entries<Metric>(metrics).flatMap(([name, { readValue }]) => {
    const values = readValue?.(seen(changes)) ?? []
    const rows = typeof values === 'number' ? [[values] as const] : values
    const of = name.replace('kiosk402_', '')
    return rows.map((row) => [[of, ...row.slice(0, -1)].join(' '), row.at(-1) as number])
  })
  return Object.fromEntries(pairs)
}

describe('the gauges', () => {
  test('use the units in their names', () => {
    const { up: _, ...values } = valuesOf()
    expect(values).toMatchObject({
      takes_purchases: 1,
      'orders PAID': 2,
      'orders FULFILLED': 40,
      'orders EXPIRED': 0,
      'purchases_total delivered': 40,
      'purchases_total failed': 0,
      'purchases_total expired': 0,
      'purchases_total payment_failed': 9,
      oldest_open_order_age_seconds: 12.5,
      refunds_failed: 1,
      goodwill_failed: 2,
      returns_failed: 1,
      oldest_return_age_seconds: 90,
      webhook_events_pending: 3,
      open_exposure_usdc: 12.500001,
      refunds_stopped: 1,
      refund_wallet_balance_usdc: 900,
      gas_wallet_balance_eth: 1.5,
      chain_head_age_seconds: 2,
      chain_safe_head_age_seconds: 60,
      'supplier_up zendit': 1,
      'supplier_up acme': 0,
      'supplier_success_ratio zendit': 0.75,
      'supplier_wallet_balance USD zendit': 1_234.56,
      catalog_age_seconds: 900,
      catalog_offers_on_sale: 11_000,
      'catalog_offers_set_aside no_price': 7,
      exchange_rates_age_seconds: 3_600,
      // Beyond the exposure of 12.5 USDC, and beyond the 20 transfers of the need.
      'wallet_hours_left refund_float ': 887.499999,
      'wallet_hours_left gas ': 20,
      'wallet_hours_left supplier zendit': 123.456,
      'run_age_seconds reconcile': 3_600,
      'run_age_seconds backup': 0,
      reconcile_differs: 1,
      offers_below_margin: 4,
      'nodes a:8402 1.0.0': 1,
      'nodes b:8402 1.1.0': 2,
      'nodes_disagree b:8402 MARKUP_BPS': 1,
    })
  })

  test('leave out unknown values', () => {
    const values = valuesOf({
      orders: undefined,
      checkouts: undefined,
      webhookEvents: undefined,
      pace: undefined,
      runs: undefined,
      chain: undefined,
      suppliers: new Map(),
      catalog: { readAt: undefined, onSale: 0, rejected: {} },
      belowMargin: undefined,
      ratesAsOf: undefined,
      bounds: [],
      gas: undefined,
      nodes: { processes: [], disagreements: [] },
    })
    expect(values).toEqual({
      'up gas': 1,
      'up supplier': 1,
      'up catalog': 1,
      'up refunds': 1,
      'up sales': 1,
      // A reading that failed or was slow is no evidence about the part.
      'up database': 1,
      'up chain': 1,
      takes_purchases: 1,
      sales_paused: 0,
      catalog_offers_on_sale: 0,
    })
  })

  test('say which part is down', () => {
    const values = valuesOf({ parts: { ...seen().parts, chain: down }, takesPurchases: false })
    expect(values).toMatchObject({ 'up chain': 0, 'up supplier': 1, takes_purchases: 0 })
  })

  test('never report a negative age when clocks differ', () => {
    const chain = { headAt: ago(-3), safeHeadAt: ago(0), refundFloat: usdc(0n), gasWei: 0n }
    expect(valuesOf({ chain })['chain_head_age_seconds']).toBe(0)
  })

  test('report an age of 0 when all orders are finished', () => {
    const { orders } = seen()
    const finished = orders && { ...orders, oldestOpenSeconds: undefined }
    expect(valuesOf({ orders: finished })['oldest_open_order_age_seconds']).toBe(0)
  })
})
