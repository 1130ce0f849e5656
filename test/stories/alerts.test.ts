import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMethods } from '../../src/payments/btcpay-methods.ts'
import { startSmtpSink } from '../harness/smtp.ts'
import { bodyFor, get, post, purchasePath } from './requests.ts'
import { openNode, openSibling, openStore, type Store, siblingSettings } from './store.ts'

const token = 'a-token-for-the-scraper'
const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const posted: { type: string; data: { condition: string; subject: string; mend: string } }[] = []
const receiver = createServer(async (request, response) => {
  const headers = request.headers as Record<string, string>
  posted.push(new Webhook(secret).verify(await text(request), headers) as (typeof posted)[number])
  response.writeHead(204).end()
})

let sink: Awaited<ReturnType<typeof startSmtpSink>>
let store: Store
let other: Awaited<ReturnType<typeof openSibling>>

beforeAll(async () => {
  sink = await startSmtpSink()
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  store = await openStore({
    lookEveryMs: 50,
    env: {
      METRICS_TOKEN: token,
      SMTP_URL: sink.url,
      ALERT_MAIL: 'operator@example.com',
      ALERT_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`,
      ALERT_WEBHOOK_SECRET: secret,
    },
  })
  other = await openSibling(store)
})
afterAll(async () => {
  await other.close()
  await store.close()
  await sink.stop()
  receiver.closeAllConnections()
  receiver.close()
})

const subjects = () =>
  sink.mails.map(({ to, data }) => `${to}: ${/^Subject: (.*(?:\n .*)*)/m.exec(data)?.[1]}`)

test('an operator without Prometheus hears of each incident once, from one of the nodes', async () => {
  await store.query(`insert into operator_runs (what, result) values ('reconcile', 'differs')`)
  await expect.poll(() => [sink.mails.length, posted.length]).toEqual([1, 1])
  const headers = { authorization: `Bearer ${token}` }
  const metrics = await (await fetch(`${store.url}/metrics`, { headers })).text()
  expect(metrics).toContain('kiosk402_reconcile_differs 1')
  // Both nodes have looked again and again when the next one is told.
  await store.query(`insert into operator_runs (what, result, ended_at)
    values ('backup', 'good', now() - interval '3 days')`)
  await expect.poll(() => [sink.mails.length, posted.length]).toEqual([2, 2])
  expect(subjects()).toEqual([
    expect.stringMatching(/^operator@example.com: .*record differs/),
    expect.stringMatching(/^operator@example.com: .*backup.*72 hours ago/s),
  ])
  expect(sink.mails[0]?.data).toContain('kiosk402 reconcile')
  expect(posted).toMatchObject([
    { type: 'incident.opened', data: { condition: 'reconcile_differs', subject: '' } },
    { type: 'incident.opened', data: { condition: 'run_old', subject: 'backup' } },
  ])
})

/** What agents, load balancers and Prometheus are told by a node. */
async function toldBy({ url }: Pick<Store, 'url'>) {
  const [manifest, ready, index, metrics] = await Promise.all([
    get(url, '/.well-known/x402'),
    get(url, '/readyz'),
    get(url, '/ai'),
    fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } }),
  ])
  const { provider_health, agent_action } = manifest.body.signals
  const up = (await metrics.text()).match(/kiosk402_up\{part="(?:gas|processor)"\} \d/g)
  return {
    signals: [provider_health, agent_action],
    ready: [ready.status, ready.body.parts.gas.state, ready.body.parts.processor?.state],
    website: index.body.payments.website,
    up: up?.map((line) => line.replace(/.*"(\w+)"./, '$1')).sort(),
  }
}

const buy = ({ url }: Pick<Store, 'url'>) =>
  post(url, purchasePath('voucher'), bodyFor('voucher', 'OK'))

test('a dear network is seen before anybody pays: manifest, /readyz, metrics and answers say so', async () => {
  const dear = await openSibling(store, { MAX_SETTLEMENT_GWEI: '1' })
  await expect
    .poll(() => toldBy(dear))
    .toMatchObject({
      signals: ['down', 'stop'],
      ready: [503, 'down', undefined],
      up: ['gas 0'],
    })
  expect(await buy(dear)).toMatchObject({ status: 503, body: { code: 'too_costly' } })
  await dear.close()
})

test('a silent BTCPay Server stops the coins alone', async () => {
  const settings = await siblingSettings(store)
  const access = { storeId: 'a'.repeat(10), apiKey: 'b'.repeat(20), isTestnet: true }
  const processor = { url: 'http://127.0.0.1:9', methods: readMethods('BTC'), ...access }
  const node = await openNode({ ...settings, processor }, store.parts)
  await expect
    .poll(() => toldBy(node))
    .toEqual({
      signals: ['degraded', 'pay'],
      ready: [200, 'healthy', 'down'],
      website: ['USDC'],
      up: ['gas 1', 'processor 0'],
    })
  expect((await buy(node)).status).toBe(402)
  const page = await get(node.url, '/buy/TEST-VOUCHER-OK')
  expect(page.text).toContain('Coins cannot be taken at the moment')
  await node.close()
})
