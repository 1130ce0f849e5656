import type { CheckoutView } from '../../api/checkout/service.ts'
import { formatUsdc } from '../../lib/money.ts'
import { formatUnits } from '../../payments/coins.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import { qrSvg } from '../frame/qr.ts'
import type { Texts } from '../texts/en.ts'
import { attributesHtml } from './fields-html.ts'
import { paymentLinkFor } from './payment-link.ts'
import { clockTime, minutesLeft } from './times.ts'

/** Longer amounts have a line of their own on phones. */
const maxShort = 10

type Invoice = NonNullable<CheckoutView['invoice']>

/** What is to be sent, where, and until when. */
export function invoiceCard(
  view: CheckoutView,
  invoice: Invoice,
  texts: Texts,
  sandboxUrl?: string,
): Html {
  const { coin, network } = view
  const { pay } = texts
  const units = view.stage === 'partly_paid' ? invoice.remaining : invoice.units
  const amount = formatUnits(units, coin)
  const link = paymentLinkFor(invoice.paymentLink, coin, units)
  return html`<div class="invoice">
<p class="chain">${pay.network(coin, network)}</p>
<div class="sum${amount.length > maxShort && ' long'}">
<h2>${view.stage === 'partly_paid' ? pay.amountRest : pay.amount}</h2>
${copied('amount', amount, pay.amount, texts, coin)}
<p class="hint">${arrivedOf(view, invoice, texts)} · ${pay.rate(coin, invoice.rate)}</p>
</div>
${link && html`<p class="act"><a class="button wide" href="${link}">${pay.open}</a></p>`}
${codes(invoice.address, link, texts)}
${deadline(view, invoice, texts)}
<div class="where">
<h2>${pay.address(network)}</h2>
${copied('address', invoice.address, pay.address(network), texts)}
<p class="only">${pay.networkOnly(coin, network)}</p>
</div>
${sandboxUrl && html`<p class="act"><a class="button quiet wide" href="${sandboxUrl}">${pay.sandbox}</a></p>`}
</div>`
}

/** What the amount is worth; where a part of it came, how much that was. */
function arrivedOf(view: CheckoutView, { seen, units }: Invoice, { pay }: Texts): string {
  const { stage, coin, amount } = view
  if (stage !== 'partly_paid') return pay.worth(formatUsdc(amount))
  return pay.arrived(formatUnits(seen, coin), `${formatUnits(units, coin)} ${coin}`)
}

/** Quiet until near the end; the script counts by the clock of the store. */
function deadline({ now }: CheckoutView, { expiresAt }: Invoice, { pay }: Texts): Html {
  const left = minutesLeft(now, expiresAt)
  const script = attributesHtml({
    'data-ends': expiresAt.toISOString(),
    'data-now': now.toISOString(),
    'data-left-text': pay.left('{time}'),
    'data-over': pay.stages.expired.say,
    ...Object.fromEntries([5, 2, 1].map((most) => [`data-left${most}`, pay.minutesLeft(most)])),
  })
  return html`<p class="until"${script}>${pay.rateHeld(clockTime(expiresAt))} <b class="left" role="timer">${left !== undefined && pay.minutesLeft(left)}</b></p>`
}

/** The code with the amount in it; for wallets that do not read it, one of the address alone. */
function codes(address: string, link: string | undefined, { pay }: Texts): Html {
  if (link === undefined) return html`<div class="codes">${qrSvg(address, pay.qrAddressAlt)}</div>`
  return html`<fieldset class="codes">
<legend class="hidden">${pay.qrTitle}</legend>
<input type="radio" name="code" id="code-whole" checked="checked"><label for="code-whole">${pay.qrWhole}</label>
<input type="radio" name="code" id="code-address"><label for="code-address">${pay.qrAddress}</label>
<div class="whole">${qrSvg(link, pay.qrWholeAlt)}</div>
<div class="alone">${qrSvg(address, pay.qrAddressAlt)}</div>
<p class="hint">${pay.qrHelp}</p>
</fieldset>`
}
