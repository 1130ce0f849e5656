/** What sends mail, and whom it is from. */
export interface MailServer {
  readonly url: string
  readonly from: string
}

/** Undefined where no mail server is named: then nobody is asked for an address. */
export function mailIn(env: {
  readonly SMTP_URL?: string | undefined
  readonly SMTP_FROM?: string | undefined
  readonly STORE_CONTACT: string
}): MailServer | undefined {
  const { SMTP_URL: url, SMTP_FROM: from = env.STORE_CONTACT } = env
  return url === undefined ? undefined : { url, from }
}
