import { expect, test } from 'vitest'
import { faultsOfMetrics } from './harness/prometheus.ts'

const page = (name: string, type: string, labels = '') =>
  `# HELP ${name} Something.\n# TYPE ${name} ${type}\n${name}${labels} 1\n`

test.each([
  ['kiosk402_requests_total', 'counter'],
  ['kiosk402_head_age_seconds', 'gauge'],
  ['kiosk402_wallet_balance_usdc', 'gauge'],
  ['kiosk402_purchase_most_usdc', 'gauge'],
])('%s is a good name of a %s', (name, type) => {
  expect(faultsOfMetrics(page(name, type))).toEqual([])
})

test.each([
  ['kiosk402_requests', 'counter'],
  ['kiosk402_handles_total', 'gauge'],
  ['kiosk402_orders_count', 'gauge'],
  ['kiosk402_wait_ms', 'gauge'],
  ['kiosk402_wait_minutes', 'gauge'],
  ['kiosk402_gauge_orders', 'gauge'],
  ['kiosk402_ordersOpen', 'gauge'],
  ['kiosk402:orders', 'gauge'],
])('%s is no good name of a %s', (name, type) => {
  expect(faultsOfMetrics(page(name, type))).toEqual([expect.stringContaining(name)])
})

test('a metric without HELP, one that is declared twice, and a label in camelCase are faults', () => {
  expect(faultsOfMetrics('# TYPE a gauge\na 1\n')).toEqual(['a has no HELP'])
  expect(faultsOfMetrics(page('a', 'gauge') + page('a', 'gauge'))).toEqual(['a is declared twice'])
  expect(faultsOfMetrics(page('a', 'gauge', '{orderState="x"}'))).toEqual(['label orderState'])
})
