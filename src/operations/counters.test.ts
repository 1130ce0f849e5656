import { expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { promtoolSays } from '../../test/harness/prometheus.ts'
import { createLog } from '../logging/log.ts'
import { createCounters } from './counters.ts'
import { eventNames, reporterTo } from './reporter.ts'

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
