import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { alerts } from '../scripts/alerts.ts'
import { events } from '../src/operations/reporter.ts'
import { selectorsIn } from '../test/harness/alert-rules.ts'
import { noPromtool } from '../test/harness/prometheus.ts'

/** A series as promtool writes it: first value, increase per minute, number of minutes. */
type SeriesOf = Readonly<Record<string, string>>

/** How many minutes of each store are evaluated. */
const looked = 90
const day = 1_440
const still = (value: number) => `${value}+0x${looked}`
const rising = (each: number) => `0+${each}x${looked}`

const at = 'job="kiosk402",instance="node"'
const event = (name: string) => `kiosk402_events_total{${at},event="${name}"}`
const answers = (status: number) =>
  `kiosk402_http_requests_total{${at},route="/ai",method="GET",status="${status}"}`
const ended = (outcome: string) => `kiosk402_purchases_total{${at},outcome="${outcome}"}`
const most = (by: string) => `kiosk402_purchase_most_usdc{${at},by="${by}"}`
const one = (name: string) => `kiosk402_${name}{${at}}`
const disagree = `kiosk402_nodes_disagree{${at},node="b:8402",setting="MARKUP_BPS"}`

/** A healthy store that sells. */
const well: SeriesOf = {
  [`up{${at}}`]: still(1),
  [one('takes_purchases')]: still(1),
  [`kiosk402_up{${at},part="supplier"}`]: still(1),
  [answers(200)]: rising(600),
  [answers(503)]: rising(1),
  [`nodejs_eventloop_lag_p99_seconds{${at}}`]: still(0.02),
  [one('refunds_failed')]: still(0),
  [one('returns_failed')]: still(0),
  [one('goodwill_failed')]: still(0),
  [one('refunds_stopped')]: still(0),
  [one('oldest_open_order_age_seconds')]: still(90),
  [one('oldest_return_age_seconds')]: still(0),
  [one('payouts_late')]: still(0),
  [most('refund_float')]: still(5_000),
  [most('supplier_funds')]: still(5_000),
  [most('refund_cap')]: still(100),
  [one('gas_wallet_balance_eth')]: still(0.1),
  [one('gas_wallet_need_eth')]: still(0.001),
  ...Object.fromEntries(
    [
      ...[
        'refund_held',
        'return_held',
        'goodwill_held',
        'goods_lost',
        'payment_lost',
        'payment_vanished',
      ],
      ...['settled_payment_gone', 'step_failed', 'checkout_step_failed', 'webhook_step_failed'],
      ...['invoice_gone', 'invoice_unread', 'address_taken', 'payment_unconfirmed'],
      ...['purchase_failed', 'part_up'],
    ].map((name) => [event(name), still(0)]),
  ),
  [ended('delivered')]: rising(2),
  [ended('failed')]: still(3),
  [ended('expired')]: still(1),
  [one('supplier_success_ratio')]: still(0.99),
  [one('chain_head_age_seconds')]: still(2),
  [one('chain_safe_head_age_seconds')]: still(120),
  [one('catalog_age_seconds')]: still(900),
  [one('catalog_offers_on_sale')]: still(11_000),
  [one('exchange_rates_age_seconds')]: still(2 * 86_400),
}

/** The catalog shrinks after a day; the other series have the same length. */
const shrunk: SeriesOf = {
  ...Object.fromEntries(
    Object.entries(well).map(([series, values]) => [
      series,
      values.replace(`x${looked}`, `x${day + looked}`),
    ]),
  ),
  [one('catalog_offers_on_sale')]: `11000+0x${day} ${still(7_000)}`,
}

/** Each alert, with the series that fire it alone. */
const cases: readonly (readonly [string, SeriesOf])[] = [
  ['Kiosk402NodeAway', { [`up{${at}}`]: still(0) }],
  ['Kiosk402NotScraped', { [`up{${at}}`]: '' }],
  ['Kiosk402SellsNothing', { [one('takes_purchases')]: still(0) }],
  ['Kiosk402PartDown', { [`kiosk402_up{${at},part="supplier"}`]: still(0) }],
  ['Kiosk402AnswersFail', { [answers(503)]: rising(60) }],
  ['Kiosk402Busy', { [`nodejs_eventloop_lag_p99_seconds{${at}}`]: still(0.8) }],
  ['Kiosk402NodesDisagree', { [disagree]: still(1) }],
  ['Kiosk402RefundFailed', { [one('refunds_failed')]: still(1) }],
  ['Kiosk402ReturnFailed', { [one('returns_failed')]: still(1) }],
  ['Kiosk402GoodwillFailed', { [one('goodwill_failed')]: still(1) }],
  ['Kiosk402RefundsHeld', { [event('refund_held')]: rising(1) }],
  ['Kiosk402RefundsHeld', { [event('return_held')]: rising(1) }],
  ['Kiosk402RefundsHeld', { [event('goodwill_held')]: rising(1) }],
  ['Kiosk402RefundsStopped', { [one('refunds_stopped')]: still(1) }],
  ['Kiosk402BuyerWaits', { [one('oldest_open_order_age_seconds')]: still(8_000) }],
  ['Kiosk402CoinsWait', { [one('oldest_return_age_seconds')]: still(8_000) }],
  ['Kiosk402CoinsWait', { [one('payouts_late')]: still(1) }],
  ['Kiosk402WalletLow', { [most('refund_float')]: still(150) }],
  ['Kiosk402WalletLow', { [most('supplier_funds')]: still(150) }],
  ['Kiosk402GasLow', { [one('gas_wallet_balance_eth')]: still(0.002) }],
  ['Kiosk402Loss', { [event('goods_lost')]: rising(1) }],
  ['Kiosk402Loss', { [event('payment_vanished')]: rising(1) }],
  ['Kiosk402CoinsStrange', { [event('invoice_gone')]: rising(1) }],
  ['Kiosk402CoinsStrange', { [event('payment_unconfirmed')]: rising(1) }],
  ['Kiosk402StepFails', { [event('checkout_step_failed')]: rising(1) }],
  ['Kiosk402StepFails', { [event('webhook_step_failed')]: rising(1) }],
  ['Kiosk402PurchasesFail', { [event('purchase_failed')]: rising(1) }],
  ['Kiosk402ManyFail', { [ended('failed')]: rising(1) }],
  ['Kiosk402SupplierFails', { [one('supplier_success_ratio')]: still(0.8) }],
  ['Kiosk402ChainBehind', { [one('chain_head_age_seconds')]: still(40) }],
  ['Kiosk402ChainBehind', { [one('chain_safe_head_age_seconds')]: still(4_000) }],
  ['Kiosk402CatalogOld', { [one('catalog_age_seconds')]: still(4_000) }],
  ['Kiosk402CatalogShrunk', shrunk],
  ['Kiosk402RatesOld', { [one('exchange_rates_age_seconds')]: still(5 * 86_400) }],
]

/** What promtool reports about the alerts that fire at the end; nothing if they are the expected ones. */
async function ringing(tests: readonly (readonly [SeriesOf, readonly string[]])[]) {
  const dir = await mkdtemp(join(tmpdir(), 'kiosk402-alerts-'))
  const file = join(dir, 'tests.json')
  const content = {
    rule_files: [resolve('deploy/alerts.yml')],
    evaluation_interval: '1m',
    tests: tests.map(([changes, names]) => ({
      interval: '1m',
      input_series: Object.entries({ ...well, ...changes })
        .filter(([, values]) => values !== '')
        .map(([series, values]) => ({ series, values })),
      promql_expr_test: [
        {
          expr: 'max by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${changes === shrunk ? day + looked : looked}m`,
          exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
        },
      ],
    })),
  }
  await writeFile(file, JSON.stringify(content))
  const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  await rm(dir, { recursive: true })
  return (stdout + stderr).replace(/^Unit Testing:.*\n|^ *SUCCESS\s*$/gm, '').trim()
}

/** Events that a gauge reports for as long as they last. */
const byGauge: Readonly<Record<string, string>> = {
  refund_failed: 'Kiosk402RefundFailed',
  return_failed: 'Kiosk402ReturnFailed',
  goodwill_failed: 'Kiosk402GoodwillFailed',
  payout_waits: 'Kiosk402CoinsWait',
  part_down: 'Kiosk402PartDown',
}

test('every event that needs a person fires an alert, and every alert gives its reason', () => {
  const rules = readFileSync('deploy/alerts.yml', 'utf8')
  const heard = new Set(selectorsIn(rules).map(({ labels }) => labels['event']))
  const needPerson = Object.entries(events).filter(([, { level }]) => level === 'error')
  const silent = needPerson.flatMap(([name]) => {
    const gauge = byGauge[name]
    return heard.has(name) || (gauge && rules.includes(`- alert: ${gauge}\n`)) ? [] : [name]
  })
  expect(silent).toEqual([])
  expect(Object.keys(alerts()).length).toBe(rules.match(/- alert: /g)?.length)
  for (const [name, { why, mend }] of Object.entries(alerts())) {
    expect([why, mend], name).toEqual([
      expect.stringMatching(/[.?]$/),
      expect.stringMatching(/[.?]$/),
    ])
  }
})

test.skipIf(noPromtool)('the rules are taken by Prometheus', () => {
  const { status } = spawnSync('promtool', ['check', 'rules', 'deploy/alerts.yml'])
  expect(status).toBe(0)
})

test.skipIf(noPromtool)('no alert rings while the store is well', async () => {
  expect(await ringing([[{}, []]])).toBe('')
})

test.skipIf(noPromtool)('each alert rings for its reason, and no other one does', async () => {
  expect(await ringing(cases.map(([name, changes]) => [changes, [name]]))).toBe('')
  const rules = readFileSync('deploy/alerts.yml', 'utf8')
  const named = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  expect([...new Set(cases.map(([name]) => name))]).toEqual(named)
})
