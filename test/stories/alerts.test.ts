import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSmtpSink } from '../harness/smtp.ts'
import { openSibling, openStore, type Store } from './store.ts'

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
