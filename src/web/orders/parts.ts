import type { Bought } from '../../api/bought.ts'
import type { OrderPageView, OwnOrderView, Seen } from '../../api/tracking/order-view.ts'
import { maxKept } from '../../checkouts/ledger.ts'
import type { OrderId } from '../../lib/ids.ts'
import { formatUsdc } from '../../lib/money.ts'
import { formatUnits } from '../../payments/coins.ts'
import { type Html, html } from '../frame/html.ts'
import { copied } from '../frame/parts.ts'
import { type Texts, type Titled, titled } from '../texts/texts.ts'

/** A transaction hash to copy, with a link to an explorer if there is one. */
export function transactionOf(
  id: string,
  { transaction, url }: Seen,
  what: string,
  t: Texts,
): Html {
  const link =
    url && html` <a class="look" href="${url}" rel="noopener noreferrer">${t('orders.look')}</a>`
  return html`${copied(id, transaction, what, t)}${link}`
}

/** The title and the text at the top of the pages of an order. */
export function wordsOf({ stage, coin, own }: OrderPageView, t: Texts): Titled {
  const words = titled(t, `orders.stages.${stage}`)
  // A visitor who sees no goods is not told to open them.
  if (own === undefined && stage === 'delivered')
    return { ...words, text: t('orders.states.delivered') }
  if (stage !== 'not_paid' || coin === undefined) return words
  return { title: words.title, text: t('orders.notPaidIn', { coin, most: formatUsdc(maxKept) }) }
}

/** What was paid: "12.50 USDC", or "0.001 BTC (the price was 12.50 USD)". */
export function paidText(
  { coin }: Pick<OrderPageView, 'coin'>,
  { amount, paidUnits }: OwnOrderView,
  t: Texts,
): string {
  const usd = formatUsdc(amount)
  if (coin === undefined) return `${usd} USDC`
  if (paidUnits === undefined) return `${usd} USD`
  return t('orders.refund.worth', { coin: `${formatUnits(paidUnits, coin)} ${coin}`, usd })
}

/** The link to write a mail to the store, with the number in its subject. */
export function writeTo(contact: string, number: string): string {
  return `mailto:${contact}?subject=${encodeURIComponent(number)}`
}

/**
 * The attributes that `scripts/recent.js` stores in the buyer's browser, to list the order on the page that finds
 * orders. They cannot open the order. Put them into the tag: `<div${recentMark(...)}>`.
 */
export function recentMark(id: OrderId, { brandName }: Pick<Bought, 'brandName'>, at: Date): Html {
  return html` data-recent="${id}" data-recent-name="${brandName}" data-recent-at="${at.toISOString()}"`
}

/** Whether the price of the order is being refunded, or was. */
export function isRefunding({ stage }: Pick<OrderPageView, 'stage'>): boolean {
  return stage.startsWith('refund')
}
