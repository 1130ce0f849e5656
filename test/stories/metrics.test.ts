import { request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Metric, metrics } from '../../src/operations/metric-list.ts'
import { promtoolSays } from '../harness/prometheus.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buy, eventually, until } from './requests.ts'
import { type Store, useStore } from './store.ts'

const token = 'a-token-for-the-scraper'
const opening = { authorization: `Bearer ${token}` }
const store = useStore({
  // So many that some are set aside.
  offers: 200,
  lookEveryMs: 500,
  refundFloat: 7_250_000n,
  env: { METRICS_TOKEN: token },
})
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

/** A request as a scraper sends it, with nothing that it was not told to send. */
function ask({ url }: Pick<Store, 'url'>, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
    const sent = request(`${url}/metrics`, { headers, agent: false }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const type = response.headers['content-type'] ?? ''
      resolve({ status: response.statusCode ?? 0, type, body: Buffer.concat(chunks).toString() })
    })
    sent.on('error', reject).end()
  })
}

/** Every sample of the page: its name with labels, and its value. */
async function scrape(from: Pick<Store, 'url'>): Promise<Map<string, number>> {
  const { status, body } = await ask(from, opening)
  expect(status).toBe(200)
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

/** The page keeps what it read for a few seconds. */
const scrapeUntil = (met: (seen: Map<string, number>) => boolean) =>
  eventually(() => scrape(store), met)

const ordersIn = (state: string) => `kiosk402_orders{state="${state}"}`

describe('the numbers', () => {
  test('tell what was bought, what failed and went back, and what is left in the wallets', async () => {
    const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    expect(answer.status).toBe(200)
    const failed = await buy(store, buyer, 'topup', bodyFor('topup', 'FAIL'))
    await until(
      store,
      failed.answer.body.orderId,
      ({ refund_state }) => refund_state === 'REFUNDED',
    )
    const slow = await buy(store, buyer, 'voucher', bodyFor('voucher', 'LATE'), {
      headers: { prefer: 'wait=1' },
    })
    expect(slow.answer.status).toBe(202)

    const seen = await scrapeUntil((now) => now.get(ordersIn('FULFILLING')) === 1)
    expect(Object.fromEntries(seen)).toMatchObject({
      'kiosk402_up{part="supplier"}': 1,
      'kiosk402_up{part="chain"}': 1,
      'kiosk402_up{part="database"}': 1,
      'kiosk402_up{part="catalog"}': 1,
      kiosk402_takes_purchases: 1,
      [ordersIn('FULFILLED')]: 1,
      [ordersIn('FULFILLMENT_FAILED')]: 1,
      [ordersIn('EXPIRED')]: 0,
      kiosk402_refunds_pending: 0,
      kiosk402_refunds_failed: 0,
      kiosk402_open_exposure_usdc: Number(slow.accepts.amount) / 1e6,
      kiosk402_refund_wallet_balance_usdc: 7.25 - Number(failed.accepts.amount) / 1e6,
      'kiosk402_supplier_up{supplier="zendit"}': 1,
      'kiosk402_supplier_success_ratio{supplier="zendit"}': 1,
      'kiosk402_purchases_total{outcome="delivered"}': 1,
      'kiosk402_purchases_total{outcome="failed"}': 1,
      'kiosk402_purchases_total{outcome="expired"}': 0,
      'kiosk402_events_total{event="refund_failed"}': 0,
      'kiosk402_http_requests_total{route="/api/catalog/vouchers/purchase/info",method="POST",status="200"}': 1,
      'kiosk402_http_requests_total{route="/api/catalog/vouchers/purchase/info",method="POST",status="402"}': 2,
    })
    const gas = seen.get('kiosk402_gas_wallet_balance_eth') ?? 0
    expect(gas).toBeGreaterThan(999)
    expect(gas).toBeLessThan(1_000)
    expect(seen.get('kiosk402_oldest_open_order_age_seconds')).toBeGreaterThan(0.5)
    expect(seen.get('kiosk402_catalog_offers_on_sale')).toBeGreaterThan(100)
    for (const age of ['chain_head', 'chain_safe_head', 'catalog', 'exchange_rates']) {
      expect(seen.get(`kiosk402_${age}_age_seconds`), age).toBeGreaterThanOrEqual(0)
    }
  })

  test('are all that are defined, keep the rules of Prometheus, and name nobody', async () => {
    const { body, type } = await ask(store, opening)
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8')
    const written = [...body.matchAll(/^# TYPE (kiosk402_\w+)/gm)].map(([, name]) => name)
    const defined = Object.entries<Metric>(metrics).filter(([, one]) => !one.isSometimesAbsent)
    expect(written.sort()).toEqual(defined.map(([name]) => name).sort())
    expect(body).toContain('process_resident_memory_bytes')
    expect(promtoolSays(body)).toBe('')
    expect(body).not.toMatch(/ord_|0x[0-9a-f]{40}|127\.0\.0\.1|202555/i)
  })
})
