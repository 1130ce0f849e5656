import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import type { WebhookCall } from '../orders/webhooks/ports.ts'
import { mailTeller, webhookTeller } from './notices.ts'
import type { Incident } from './ports.ts'

const store = { name: 'Kiosk', url: 'https://store.example.com' }
const incident: Incident = {
  id: '7',
  condition: 'refund_failed',
  subject: '',
  text: '2 refunds failed and wait for you.',
  openedAt: new Date('2026-03-01T12:00:00Z'),
  recoveredAt: null,
}
const over = { ...incident, recoveredAt: new Date('2026-03-01T13:00:00Z') }

test('a mail says what it is, since when, the command that mends it, and where more is written', async () => {
  const mails: { to: string; subject: string; text: string }[] = []
  const tell = mailTeller({ send: async (mail) => void mails.push(mail) }, 'me@example.com', store)
  await tell(incident)
  await tell(over)
  const [begun, ended] = mails
  expect(begun).toMatchObject({
    to: 'me@example.com',
    subject: 'Kiosk: 2 refunds failed and wait for you.',
  })
  expect(begun?.text).toMatch(/Since: +2026-03-01T12:00:00.000Z/)
  expect(begun?.text).toContain('kiosk402 refund retry --all')
  expect(begun?.text).toContain('docs/operators/alerts.md#kiosk402refundfailed')
  expect(ended?.subject).toBe('Kiosk: over: 2 refunds failed and wait for you.')
  expect(ended?.text).toMatch(/Over: +2026-03-01T13:00:00.000Z/)
})

test('an event is signed as Standard Webhooks says, and has the same id whenever it is sent', async () => {
  const calls: WebhookCall[] = []
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const target = { url: 'http://127.0.0.1:1/', secret }
  const post = async (call: WebhookCall) => {
    calls.push(call)
    return { status: 204 }
  }
  const tell = webhookTeller(post, target, { store, now: () => new Date() })
  for (const one of [incident, incident, over]) await tell(one)
  const [first, again, ended] = calls.map(({ headers, body }) => ({
    id: headers['webhook-id'],
    ...(new Webhook(secret).verify(body, { ...headers }) as object),
  }))
  expect(first).toEqual({
    id: 'incident_7_opened',
    type: 'incident.opened',
    timestamp: '2026-03-01T12:00:00.000Z',
    data: {
      ...{ condition: 'refund_failed', subject: '', text: incident.text },
      ...{ alert: 'Kiosk402RefundFailed', severity: 'critical', store: store.url },
      mend: expect.stringContaining('kiosk402 refund'),
      opened_at: '2026-03-01T12:00:00.000Z',
      recovered_at: null,
    },
  })
  expect(again).toEqual(first)
  expect(ended).toMatchObject({ id: 'incident_7_recovered', type: 'incident.recovered' })
})

test.each([
  ['an error', { status: 500 }],
  ['a redirect', { status: 302 }],
  ['silence', { failure: 'timeout' }],
])('a receiver that answers with %s was not told', async (_, answer) => {
  const target = { url: 'http://127.0.0.1:1/', secret: 'whsec_' }
  const tell = webhookTeller(async () => answer, target, { store, now: () => new Date() })
  await expect(tell(incident)).rejects.toThrow()
})
