import type { Return } from '../../checkouts/checkout.ts'
import { type Coin, formatUnits } from '../../payments/coins.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'

/** How much goes back, how far that is, and why: "0.1 BTC is about to be refunded (late)." */
export function returned({ seq, units, why, payout }: Return, coin: Coin, t: Texts): Html {
  const where =
    payout.state === 'CONFIRMED' &&
    html` ${copied(`return-${seq}`, payout.transaction, t('returned.transaction'), t)}`
  return html`<b>${formatUnits(units, coin)} ${coin}</b> ${t(`returned.words.${payout.state}`)}${where} (${t(`returned.whys.${why}`)}).`
}
