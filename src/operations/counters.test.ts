import { expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { newOrder, orderWorld } from '../../test/doubles/orders.ts'
import { faultsOfMetrics, promtoolSays } from '../../test/harness/prometheus.ts'
import { advance } from '../orders/advance.ts'
import { countedOrders, countedReporter, createCounters } from './counters.ts'
import { happeningNames } from './reporter.ts'

test('ends of purchases are counted once each, by the process that reached them', async () => {
  const { deps, orders } = orderWorld()
  const counters = createCounters()
  const counted = { ...deps, orders: countedOrders(orders, counters) }
  const { order } = await orders.open(newOrder(deps), [])
  const delivered = await advance(counted, order, 20_000)
  expect(delivered.state).toBe('FULFILLED')
  // Whoever comes second, with an order that was moved on meanwhile, ends nothing.
  expect(await counted.orders.move(order, delivered)).toMatchObject({ won: false })
  const metric = await counters.registry.getSingleMetricAsString('kiosk402_purchases_total')
  expect(metric.split('\n').slice(2)).toEqual([
    'kiosk402_purchases_total{outcome="delivered"} 1',
    'kiosk402_purchases_total{outcome="failed"} 0',
    'kiosk402_purchases_total{outcome="expired"} 0',
    'kiosk402_purchases_total{outcome="payment_failed"} 0',
  ])
})

test('happenings are counted by name, and still reported', async () => {
  const counters = createCounters()
  const heard: unknown[] = []
  const report = countedReporter((happening) => heard.push(happening), counters)
  report({ name: 'goods_lost', order: newOrderId() })
  expect(heard).toMatchObject([{ name: 'goods_lost' }])
  const metric = await counters.registry.getSingleMetricAsString('kiosk402_happenings_total')
  for (const name of happeningNames) {
    expect(metric).toContain(`{happening="${name}"} ${name === 'goods_lost' ? 1 : 0}`)
  }
})

test('requests are counted and timed by route', async () => {
  const counters = createCounters()
  counters.answered({ route: '/ai/:kind', method: 'GET', status: 200, seconds: 0.004 })
  counters.answered({ route: '/ai/:kind', method: 'GET', status: 404, seconds: 3 })
  const text = await counters.registry.metrics()
  expect(text).toContain(
    'kiosk402_http_requests_total{route="/ai/:kind",method="GET",status="404"} 1',
  )
  expect(text).toContain('duration_seconds_bucket{le="0.005",route="/ai/:kind",method="GET"} 1')
  expect(text).toContain('duration_seconds_sum{route="/ai/:kind",method="GET"} 3.004')
})

test('what is counted keeps the rules of Prometheus', async () => {
  const page = await createCounters().registry.metrics()
  expect(faultsOfMetrics(page)).toEqual([])
  expect(promtoolSays(page)).toBe('')
  expect(page).toContain('nodejs_active_handles{')
})
