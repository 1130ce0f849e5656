import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../sandbox/port.ts'
import { startSmtpSink } from '../../../test/harness/smtp.ts'
import { createSmtpMailer } from './smtp.ts'

let sink: Awaited<ReturnType<typeof startSmtpSink>>
beforeAll(async () => {
  sink = await startSmtpSink()
})
afterAll(() => sink.stop())

const mail = {
  to: 'buyer@example.org',
  subject: 'Your order',
  text: 'https://k.example/orders/1#t',
}

test('a mail comes as it was written, from the store, as plain text', async () => {
  await createSmtpMailer({ url: sink.url, from: 'kiosk@example.org' }).send(mail)
  const [caught] = sink.mails
  expect(caught).toMatchObject({ from: 'kiosk@example.org', to: ['buyer@example.org'] })
  expect(caught?.data).toContain('Subject: Your order')
  expect(caught?.data).toContain('Content-Type: text/plain')
  expect(caught?.data).toContain(mail.text)
  expect(caught?.data).not.toContain('multipart')
})

test('what was typed as one address is never read as several, nor as a header', async () => {
  const before = sink.mails.length
  const mailer = createSmtpMailer({ url: sink.url, from: 'kiosk@example.org' })
  await mailer
    .send({ ...mail, to: 'a@example.org, b@example.org\r\nBcc: c@example.org' })
    .catch(() => undefined)
  for (const { to, data } of sink.mails.slice(before)) {
    expect(to.length).toBe(1)
    expect(data).not.toMatch(/^Bcc:/m)
  }
})

test('a server that is away is said, not waited for', async () => {
  const url = `smtp://127.0.0.1:${await freePort()}`
  await expect(createSmtpMailer({ url, from: 'kiosk@example.org' }).send(mail)).rejects.toThrow()
})
