import type { Return } from '../../checkouts/checkout.ts'
import { type Coin, formatUnits } from '../../payments/coins.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'

/** How much goes back, how far that is, and why: "0.1 BTC is about to be refunded (late)." */
export function returned({ seq, units, why, step }: Return, coin: Coin, texts: Texts): Html {
  const { words, whys, transaction } = texts.returned
  const where =
    step.type === 'SENT' && html` ${copied(`return-${seq}`, step.transaction, transaction, texts)}`
  return html`<b>${formatUnits(units, coin)} ${coin}</b> ${words[step.type]}${where} (${whys[why]}).`
}
