import type { Return } from '../../checkouts/checkout.ts'
import type { OrderSight, OwnSight } from '../../desk/following/sight.ts'
import { formatUnits } from '../../payments/coins.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import { fact } from './parts.ts'

/** Money that came besides the price, such as a payment made twice, and where it is on its way back. */
export function returnsPart({ coin }: OrderSight, own: OwnSight, texts: Texts): Html | undefined {
  if (own.returns.length === 0 || coin === undefined) return undefined
  const words = texts.orders.refund
  const line = (one: Return) => html`
<li><b>${formatUnits(one.units, coin)} ${coin}</b> <span>${words.returnWhy[one.why]}: ${words.returnStep[one.step.type]}</span>${one.step.type === 'SENT' && html` ${copied(`return-${one.seq}`, one.step.transaction, words.transaction, texts)}`}</li>`
  return html`<section class="sheet" aria-labelledby="returns">
<h2 id="returns">${words.returns}</h2>
<ul class="sent-back">${own.returns.map(line)}
</ul>
<dl class="facts">${fact(words.to, own.returnTo && copied('return-to', own.returnTo, words.to, texts))}</dl>
</section>`
}
