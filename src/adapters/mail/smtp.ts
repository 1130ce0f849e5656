import { createTransport } from 'nodemailer'
import type { Mailer } from '../../orders/mail.ts'

export interface SmtpOptions {
  /** "smtps://user:password@mail.example:465"; with smtp:// the connection is encrypted when the server can. */
  readonly url: string
  /** Who a mail is from: "kiosk@example.org", or "Kiosk <kiosk@example.org>". */
  readonly from: string
}

/** A person waits for the answer at times, so a server that says nothing is given up soon. */
const patienceMs = 10_000

/** Sends mail through a mail server. Nothing but the text that is given is ever read into a mail. */
export function createSmtpMailer({ url, from }: SmtpOptions): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text }) {
      // As an object, so that no text is read as a list of addresses.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text })
    },
  }
}
