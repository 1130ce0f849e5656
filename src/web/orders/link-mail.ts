import { findPath, type MailedOrder } from '../../api/tracking/find.ts'
import { linkTokenDays } from '../../api/tracking/tokens.ts'
import type { Frame } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'
import { boughtText } from './parts.ts'

/** The mail with the links to these orders. */
export function linkMail(
  { t, site, now }: Pick<Frame, 't' | 'site'> & { readonly now: Date },
  to: string,
  orders: readonly MailedOrder[],
) {
  const { name, url, contact } = site
  const until = new Date(now.getTime() + linkTokenDays * 86_400_000)
  const paragraphs = orders.map(({ id, bought, placed, link }) =>
    [boughtText(bought, t), t('mail.order', { id, date: dateText(placed, t) }), link].join('\n'),
  )
  const text = [
    orders.length === 1 ? t('mail.hello') : t('mail.helloMany'),
    ...paragraphs,
    t('mail.good', { until: dateText(until, t), url: `${url}${findPath}` }),
    t('mail.notYou'),
    `${name}\n${url}\n${contact}`,
  ].join('\n\n')
  const [first] = orders
  const subject =
    orders.length === 1 && first
      ? t('mail.subjectOne', { store: name, order: first.id })
      : t('mail.subject', { store: name })
  return { to, subject, text }
}

/** The date in UTC: "Nov 29, 2026". */
function dateText(date: Date, { language }: Texts): string {
  return date.toLocaleDateString(language, { dateStyle: 'medium', timeZone: 'UTC' })
}
