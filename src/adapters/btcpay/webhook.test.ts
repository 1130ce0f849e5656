import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { expectShape } from '../../../test/harness/greenfield.ts'
import { invoiceOfEvent, verifyWebhook } from './processor.ts'

const secret = 'agreed'
const event = {
  deliveryId: 'D1',
  webhookId: 'W1',
  originalDeliveryId: 'D1',
  isRedelivery: false,
  type: 'InvoiceSettled',
  timestamp: 1_782_907_200,
  storeId: 'S1',
  invoiceId: 'Inv1',
  metadata: { orderId: 'chk_1' },
  manuallyMarked: false,
  overPaid: false,
}
const body = Buffer.from(JSON.stringify(event))
const signed = (bytes: Uint8Array, key = secret) =>
  `sha256=${createHmac('sha256', key).update(bytes).digest('hex')}`

it('knows what BTCPay signed', () => {
  expect(verifyWebhook(body, signed(body), secret)).toBe(true)
  expect(verifyWebhook(body.toString(), signed(body), secret)).toBe(true)
  // An example of the algorithm from RFC 4231, test case 2.
  const known = 'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
  expect(verifyWebhook('what do ya want for nothing?', known, 'Jefe')).toBe(true)
})

it.each<readonly [string, Uint8Array, string | readonly string[] | undefined, string]>([
  ['another body', Buffer.concat([body, Buffer.from(' ')]), signed(body), secret],
  ['another key', body, signed(body, 'other'), secret],
  ['no signature', body, undefined, secret],
  ['two signatures', body, [signed(body), signed(body)], secret],
  ['another algorithm', body, signed(body).replace('sha256', 'sha1'), secret],
  ['half a signature', body, signed(body).slice(0, 40), secret],
  ['no digits', body, `sha256=${'z'.repeat(64)}`, secret],
  ['no secret that was agreed', body, signed(body, ''), ''],
])('takes no call with %s', (_name, bytes, header, key) => {
  expect(verifyWebhook(bytes, header, key)).toBe(false)
})

it('reads the invoice out of an event, and nothing else', () => {
  expectShape('WebhookInvoiceSettledEvent', event)
  expect(invoiceOfEvent(event, 'S1')).toBe('Inv1')
})

it.each([
  ['of another store', { ...event, storeId: 'S2' }],
  ['of a payout', { ...event, type: 'PayoutApproved' }],
  ['without an invoice', { ...event, invoiceId: undefined }],
  ['with a path for an invoice', { ...event, invoiceId: '../stores' }],
  ['that is no event', 'InvoiceSettled'],
  ['that is nothing', undefined],
])('knows no invoice in an event %s', (_name, body) => {
  expect(invoiceOfEvent(body, 'S1')).toBeUndefined()
})
