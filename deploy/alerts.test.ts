import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { alerts } from '../scripts/alerts.ts'
import { conditions } from '../src/operations/conditions.ts'
import { gaugesOf } from '../src/operations/metrics.ts'
import { events } from '../src/operations/reporter.ts'
import { ills, wellState } from '../src/operations/store-state.fixture.ts'
import type { StoreState } from '../src/operations/store-state.ts'
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
const one = (name: string) => `kiosk402_${name}{${at}}`
const hours = (wallet: string, supplier: string) =>
  `kiosk402_wallet_hours_left{${at},wallet="${wallet}",supplier="${supplier}"}`
const run = (what: string) => `kiosk402_run_age_seconds{${at},what="${what}"}`
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
  [one('sales_paused')]: still(0),
  [one('oldest_open_order_age_seconds')]: still(90),
  [one('oldest_return_age_seconds')]: still(0),
  [one('payouts_late')]: still(0),
  [`kiosk402_supplier_up{${at},supplier="zendit"}`]: still(1),
  [`kiosk402_up{${at},part="processor"}`]: still(1),
  [hours('gas', '')]: still(500),
  [hours('supplier', 'zendit')]: still(500),
  [run('reconcile')]: still(90_000),
  [run('backup')]: still(90_000),
  [run('restore_drill')]: still(10 * 86_400),
  [one('reconcile_differs')]: still(0),
  [one('offers_below_margin')]: still(0),
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
  ['Kiosk402SupplierDown', { [`kiosk402_supplier_up{${at},supplier="zendit"}`]: still(0) }],
  ['Kiosk402ProcessorDown', { [`kiosk402_up{${at},part="processor"}`]: still(0) }],
  ['Kiosk402SalesPaused', { [one('sales_paused')]: still(1), [one('takes_purchases')]: still(0) }],
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
  ['Kiosk402WalletLow', { [hours('gas', '')]: still(40) }],
  ['Kiosk402WalletLow', { [hours('supplier', 'zendit')]: still(0) }],
  ['Kiosk402ReconcileDiffers', { [one('reconcile_differs')]: still(1) }],
  ['Kiosk402RunOld', { [run('backup')]: still(190_000) }],
  ['Kiosk402RunOld', { [run('restore_drill')]: still(16 * 86_400) }],
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
  ['Kiosk402BelowMargin', { [one('offers_below_margin')]: still(2) }],
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

/** The gauges of a store in this state, as series that stay so. */
async function seriesOf(state: StoreState): Promise<SeriesOf> {
  const text = await gaugesOf(state)
  const samples = text.matchAll(/^(kiosk402_\w+?)(?:\{(.*)\})? (\S+)$/gm)
  return Object.fromEntries(
    Array.from(samples, ([, name, labels, value]) => [
      `${name}{${[at, labels].filter(Boolean).join()}}`,
      still(Number(value)),
    ]),
  )
}

test('the store tells the same as the rules: when, how urgent, and what to do', () => {
  const rules = alerts()
  const ofRules = Object.values(conditions).map(({ alert }) => {
    const { severity, mend, after = '0m' } = rules[alert] ?? {}
    return { alert, severity, mend, forMinutes: Number.parseInt(after, 10) }
  })
  const own = Object.values(conditions).map(({ alert, severity, mend, forMinutes }) => {
    return { alert, severity, mend, forMinutes }
  })
  expect(own).toEqual(ofRules)
})

test.skipIf(noPromtool)(
  'the rules ring for the facts for which the store tells, and a small one is quiet',
  async () => {
    const states = Object.entries(ills).flatMap(([name, changes]) =>
      changes.map((ill) => [wellState(ill), [conditions[name]?.alert ?? '']] as const),
    )
    const cases = [[wellState(), []] as const, ...states].map(
      async ([state, names]) => [await seriesOf(state), names] as const,
    )
    expect(await ringing(await Promise.all(cases))).toBe('')
  },
)
