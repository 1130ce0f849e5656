import type { Mailer } from '../../orders/ports.ts'

export interface SmtpOptions {
  /** "smtps://user:password@mail.example:465"; with smtp:// the connection is encrypted if the server supports it. */
  readonly url: string
  /** The sender: "kiosk@example.org", or "Kiosk <kiosk@example.org>". */
  readonly from: string
}

const patienceMs = 10_000

/** Sends mail through an SMTP server. No text can make it read a file or a URL into a mail. */
export function createSmtpMailer({ url, from }: SmtpOptions): Mailer {
  return {
    async send({ to, subject, text }) {
      // Most stores send none, and save its memory.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        url,
        connectionTimeout: patienceMs,
        greetingTimeout: patienceMs,
        socketTimeout: patienceMs,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      // As an object, so that the address is not parsed as a list of addresses.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text })
    },
  }
}
