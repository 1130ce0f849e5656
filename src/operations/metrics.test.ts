import { beforeEach, expect, test, vi } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import { fixturePricing, voucher } from '../../test/fixtures/offers.ts'
import { promtoolSays } from '../../test/harness/prometheus.ts'
import { createLiveCatalog } from '../catalog/catalog.ts'
import { noRules, type SellingRules, sellingRulesOf } from '../catalog/selling-rules.ts'
import { createHealth } from '../health/health.ts'
import type { OfferId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import { createLog } from '../logging/log.ts'
import type { OrderFacts } from '../orders/ports.ts'
import { createCounters, createMetrics, createStateReader } from './metrics.ts'
import type { DearSale } from './ports.ts'
import { eventNames, reporterTo } from './reporter.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

const orders: OrderFacts = {
  byState: { FULFILLED: 7 },
  ended: { FULFILLED: 9 },
  oldestOpenSeconds: undefined,
  refundsFailed: 0,
  goodwillFailed: 0,
  exposure: usdc(0n),
  refundsStopped: false,
}
const checkouts = {
  openByState: {},
  returnsFailed: 0,
  oldestReturnSince: undefined,
  payoutsLate: 0,
}

/** The metrics of a healthy store with the given order counts. */
function metricsWith(
  count: () => Promise<OrderFacts>,
  { sales = [], rules = noRules }: { sales?: readonly DearSale[]; rules?: SellingRules } = {},
) {
  const now = () => new Date()
  const health = createHealth(now)
  health.note('database', true)
  const readState = createStateReader({
    now,
    health,
    orderFacts: count,
    checkoutFacts: async () => checkouts,
    webhookEvents: async () => 0,
    pace: async () => ({ refunds: 0, transfers: 0, suppliers: new Map() }),
    dearSales: async () => sales,
    lastRuns: async () => new Map(),
    chain: async () => {
      const at = now()
      return { headAt: at, safeHeadAt: at, refundFloat: usdc(0n), gasWei: 0n }
    },
    supplierWallets: new Map(),
    nodes: () => ({ processes: [], disagreements: [] }),
    liveCatalog: createLiveCatalog(catalogOf([voucher('D')], fixturePricing())),
    pricing: { rates: () => undefined, rules: () => rules },
  })
  return { health, page: createMetrics(readState, async () => '') }
}

test('reports purchases as a counter from the database', async () => {
  const { body } = await metricsWith(async () => orders).page()
  expect(body).toContain('# TYPE kiosk402_purchases_total counter')
  expect(body).toContain('kiosk402_purchases_total{outcome="delivered"} 9')
  expect(body).toContain('kiosk402_orders{state="FULFILLED"} 7')
})

test('leaves out counts that fail or are slow, without marking a part down', async () => {
  const fails = async () => Promise.reject(new Error('canceling statement due to timeout'))
  const takesLong = () => new Promise<OrderFacts>(() => undefined)
  for (const count of [fails, takesLong]) {
    const { page, health } = metricsWith(count)
    for (let scrape = 0; scrape < 4; scrape += 1) {
      const [{ body }] = await Promise.all([page(), vi.advanceTimersByTimeAsync(6_000)])
      expect(body).not.toContain('kiosk402_orders')
      expect(body).toContain('kiosk402_up{part="database"} 1')
    }
    expect(health.parts().database.state).toBe('healthy')
  }
})

test('counts each offer once that was sold for less than it cost with the least margin', async () => {
  const sale = (offer: string, cost: bigint | undefined) => {
    const known = cost === undefined ? undefined : usdc(cost)
    return { offer: offer as OfferId, price: usdc(10n), cost: known }
  }
  const sales = [
    sale('A', 11n),
    sale('A', 12n),
    sale('B', 10n),
    sale('C', undefined),
    sale('D', 9n),
  ]
  const { body } = await metricsWith(async () => orders, { sales }).page()
  expect(body).toContain('kiosk402_offers_below_margin 1')
  const effect = { type: 'least_margin', bps: 2_000, cents: 0 } as const
  const rules = sellingRulesOf([{ id: 1, scope: { type: 'offer', key: 'D' }, effect }])
  const later = await metricsWith(async () => orders, { sales, rules }).page()
  expect(later.body).toContain('kiosk402_offers_below_margin 2')
})

test('counts events by name and still reports them', async () => {
  const counters = createCounters()
  const heard: string[] = []
  const log = createLog('info', { write: (line: string) => heard.push(line) })
  const report = reporterTo(log, undefined, counters.countEvent)
  report({ name: 'goods_lost', order: newOrderId() })
  expect(heard).toHaveLength(1)
  const metric = await counters.registry.getSingleMetricAsString('kiosk402_events_total')
  for (const name of eventNames) {
    expect(metric).toContain(`{event="${name}"} ${name === 'goods_lost' ? 1 : 0}`)
  }
})

test('counts and times requests by route', async () => {
  const counters = createCounters()
  counters.countRequest({ route: '/ai/:kind', method: 'GET', status: 200, seconds: 0.004 })
  counters.countRequest({ route: '/ai/:kind', method: 'GET', status: 404, seconds: 3 })
  const text = await counters.registry.metrics()
  expect(text).toContain(
    'kiosk402_http_requests_total{route="/ai/:kind",method="GET",status="404"} 1',
  )
  expect(text).toContain('duration_seconds_bucket{le="0.005",route="/ai/:kind",method="GET"} 1')
  expect(text).toContain('duration_seconds_sum{route="/ai/:kind",method="GET"} 3.004')
})

test('follows the naming rules of Prometheus', async () => {
  const page = await createCounters().registry.metrics()
  expect(promtoolSays(page)).toBe('')
  expect(page).toContain('nodejs_active_handles{')
})
