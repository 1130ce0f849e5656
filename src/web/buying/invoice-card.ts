import type { CheckoutView } from '../../api/checkout.ts'
import { formatUsdc } from '../../lib/money.ts'
import { type Coin, formatUnits } from '../../payments/coins.ts'
import { attributesHtml } from '../frame/fields.ts'
import { type Html, html } from '../frame/html.ts'
import { copied, timeTag } from '../frame/parts.ts'
import { qrSvg } from '../frame/qr.ts'
import { namedCoinOn } from '../shop/money-text.ts'
import type { Texts } from '../texts/texts.ts'

/** Characters; longer amounts get a line of their own on phones. */
const maxShort = 10

type Invoice = NonNullable<CheckoutView['invoice']>

/** The amount to send, the address, and the deadline. */
export function invoiceCard(
  view: CheckoutView,
  invoice: Invoice,
  t: Texts,
  sandboxUrl?: string,
): Html {
  const { coin, network } = view
  const units = view.stage === 'partly_paid' ? invoice.remaining : invoice.units
  const amount = formatUnits(units, coin)
  const link = paymentLinkFor(invoice.paymentLink, coin, units)
  return html`<div class="invoice">
<p class="chain">${namedCoinOn(coin, network, t)}</p>
<div class="sum${amount.length > maxShort && ' long'}">
<h2>${view.stage === 'partly_paid' ? t('pay.amountRest') : t('pay.amount')}</h2>
${copied('amount', amount, t('pay.amount'), t, coin)}
<p class="hint">${arrivedOf(view, invoice, t)} · ${t('pay.rate', { coin, rate: invoice.rate })}</p>
</div>
${link && html`<p class="act"><a class="button wide" href="${link}">${t('pay.open')}</a></p>`}
${codes(invoice.address, link, t)}
${deadline(view, invoice, t)}
<div class="where">
<h2>${t('pay.address', { network })}</h2>
${copied('address', invoice.address, t('pay.address', { network }), t)}
<p class="only">${t('pay.networkOnly', { coin, network })}</p>
</div>
${sandboxUrl && html`<p class="act"><a class="button quiet wide" href="${sandboxUrl}">${t('pay.sandbox')}</a></p>`}
</div>`
}

/** The value of the amount in USDC; after a partial payment, how much has arrived. */
function arrivedOf(view: CheckoutView, { seen, units }: Invoice, t: Texts): string {
  const { stage, coin, amount } = view
  if (stage !== 'partly_paid') return t('pay.worth', { usdc: formatUsdc(amount) })
  return t('pay.arrived', {
    seen: formatUnits(seen, coin),
    whole: `${formatUnits(units, coin)} ${coin}`,
  })
}

/** The deadline, with a countdown only near the end. The script counts by the clock of the store. */
function deadline({ now }: CheckoutView, { expiresAt }: Invoice, t: Texts): Html {
  const left = minutesLeft(now, expiresAt)
  const script = attributesHtml({
    'data-ends': expiresAt.toISOString(),
    'data-now': now.toISOString(),
    'data-left-text': t.open('pay.left'),
    'data-over': t('pay.stages.expired.say'),
    ...Object.fromEntries(
      [5, 2, 1].map((most) => [`data-left${most}`, t('pay.minutesLeft', { minutes: most })]),
    ),
  })
  return html`<p class="until"${script}>${t('pay.rateHeld', timeTag(expiresAt, t))} <b class="left" role="timer">${left !== undefined && t('pay.minutesLeft', { minutes: left })}</b></p>`
}

/** A QR code with the amount, and one of the address alone for wallets that do not read amounts. */
function codes(address: string, link: string | undefined, t: Texts): Html {
  if (link === undefined)
    return html`<div class="codes">${qrSvg(address, t('pay.qrAddressAlt'))}</div>`
  return html`<fieldset class="codes">
<legend class="hidden">${t('pay.qrTitle')}</legend>
<input type="radio" name="code" id="code-whole" checked="checked"><label for="code-whole">${t('pay.qrWhole')}</label>
<input type="radio" name="code" id="code-address"><label for="code-address">${t('pay.qrAddress')}</label>
<div class="whole">${qrSvg(link, t('pay.qrWholeAlt'))}</div>
<div class="alone">${qrSvg(address, t('pay.qrAddressAlt'))}</div>
<p class="hint">${t('pay.qrHelp')}</p>
</fieldset>`
}

/**
 * The links that wallets open, and the parameter of each for the amount: in coins for BIP-21 and similar schemes, in
 * smallest units for EIP-681, for tokens and Ether. Other links of the processor are not offered: wallets read the
 * amount in a Tron link as TRX.
 */
const forms: readonly {
  readonly link: RegExp
  readonly amount: string
  readonly inUnits: boolean
}[] = [
  { link: /^(bitcoin|litecoin):/i, amount: 'amount', inUnits: false },
  { link: /^monero:/i, amount: 'tx_amount', inUnits: false },
  { link: /^ethereum:[^?]*\/transfer\?/i, amount: 'uint256', inUnits: true },
  { link: /^ethereum:/i, amount: 'value', inUnits: true },
]

/** Printable ASCII without spaces. */
const printable = /^[\x21-\x7e]+$/

/**
 * The link of the processor with this amount; undefined if it is not a link that wallets open, or has no parameter for
 * the amount.
 */
export function paymentLinkFor(link: string, coin: Coin, units: bigint): string | undefined {
  const form = forms.find((one) => one.link.test(link))
  if (form === undefined || !printable.test(link)) return undefined
  const amount = new RegExp(`([?&]${form.amount}=)[^&#]*`, 'i')
  if (!amount.test(link)) return undefined
  return link.replace(amount, `$1${form.inUnits ? units : formatUnits(units, coin)}`)
}

/** The countdown is shown only for the last minutes; earlier it would only hurry the buyer. */
const nearMinutes = 5

/** Whole minutes, rounded up, during the last minutes before the end; undefined before and after. */
function minutesLeft(now: Date, end: Date): number | undefined {
  const minutes = Math.ceil((end.getTime() - now.getTime()) / 60_000)
  return minutes > 0 && minutes <= nearMinutes ? minutes : undefined
}
