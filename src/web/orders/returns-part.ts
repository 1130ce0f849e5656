import type { OrderPageView, OwnOrderView } from '../../api/tracking/order-view.ts'
import { isVoid, type Return } from '../../checkouts/checkout.ts'
import { type Coin, formatUnits } from '../../payments/coins.ts'
import { type Html, html } from '../frame/html.ts'
import { copied, fact } from '../frame/parts.ts'
import type { Texts } from '../texts/texts.ts'

/** The returns of an order, such as of a second payment, and how far their payouts are. */
export function returnsPart(
  { coin }: OrderPageView,
  own: OwnOrderView,
  t: Texts,
): Html | undefined {
  if (own.returns.length === 0 || coin === undefined) return undefined
  return html`<section class="sheet" aria-labelledby="returns">
<h2 id="returns">${t('orders.refund.returns')}</h2>
<ul class="sent-back">${own.returns.map(
    (one) => html`
<li>${returned(one, coin, t)}</li>`,
  )}
</ul>
<dl class="facts">${fact(t('orders.refund.to'), own.returnTo && copied('return-to', own.returnTo, t('orders.refund.to'), t))}</dl>
</section>`
}

/** The amount of a return, how far its payout is, and its reason: "0.1 BTC is about to be refunded (late)." */
export function returned(one: Return, coin: Coin, t: Texts): Html {
  const { seq, units, why, payout } = one
  const where =
    payout.state === 'CONFIRMED' &&
    html` ${copied(`return-${seq}`, payout.transaction, t('returned.transaction'), t)}`
  return html`<b>${formatUnits(units, coin)} ${coin}</b> ${t(`returned.words.${isVoid(one) ? 'VOID' : payout.state}`)}${where} (${t(`returned.whys.${why}`)}).`
}
