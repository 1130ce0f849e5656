import type { CheckoutService } from '../../api/checkout.ts'
import { purchasePath } from '../../api/operation.ts'
import type { MailDeps } from '../../api/tracking/find.ts'
import { type Offer, worthOf } from '../../catalog/offer.ts'
import { readPhone } from '../../catalog/phone.ts'
import { type Retail, retailOf } from '../../catalog/pricing.ts'
import type { PaymentMethod } from '../../checkouts/ports.ts'
import { type Coin, coinDecimals } from '../../payments/coins.ts'
import type { Payee } from '../../payments/terms.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import {
  codeAttributes,
  countryList,
  emailAttributes,
  faultHtml,
  fieldHtml,
} from '../frame/parts.ts'
import { buyPath } from '../paths.ts'
import { coinNames, coinOn } from '../shop/money-text.ts'
import { type MessageId, messagesOf, type Texts } from '../texts/texts.ts'
import { receivesText } from './field-value.ts'
import {
  type FormFeedback,
  type FormField,
  formFieldsOf,
  isCountryField,
  names,
  noFaults,
  numberIn,
  untyped,
  walletWay,
} from './form.ts'

/** The last known price of one coin in US dollars, for estimates only; undefined if it is not known. */
export type CoinRates = (coin: Coin) => string | undefined

export interface PayingDeps {
  /** Absent where the operator has configured no processor. */
  readonly checkout?: CheckoutService | undefined
  /** Absent where the store sends no mails. */
  readonly mail?: MailDeps | undefined
  readonly payee: Payee
  readonly rates?: CoinRates | undefined
  /** Only in the sandbox: the URL of the page that pays an invoice with test money. */
  readonly sandboxPayUrl?: ((invoice: string) => string) | undefined
}

interface BuyForm extends Pick<FormFeedback, 'typed' | 'faults' | 'notice'> {
  readonly offer: Offer
  readonly retail: Retail
  readonly deps: WebDeps & PayingDeps
  readonly t: Texts
}

/** The form of an offer: the fields of the purchase, and how it is paid. It needs no script. */
export function buyForm(offer: Offer, deps: WebDeps & PayingDeps, feedback?: FormFeedback): Html {
  const { pricing, t, checkout } = deps
  const methods = checkout?.methodsNow() ?? []
  const retail = retailOf(offer, pricing)
  const { typed, faults, notice } = feedback ?? {
    typed: untyped(retail, methods),
    faults: noFaults,
    notice: undefined,
  }
  const form = { offer, retail, deps, t, typed, faults, notice }
  return html`<form class="buy" id="buy" method="post" action="${buyPath(offer)}" novalidate="novalidate">
<h2>${t('form.buy')}</h2>
${summary(form)}
${hidden(names.formKey, typed.formKey)}
${hidden(names.seen, typed.seen)}
${typed.another !== '' && hidden(names.another, typed.another)}
${fieldsHtml(form)}
<fieldset class="pay" id="${names.pay}" aria-describedby="${names.pay}-fault"${faults.has(names.pay) && html` aria-invalid="true"`}>
<legend>${t('form.pay')}</legend>
${faultHtml(names.pay, faults.get(names.pay))}
${!pricing.rules().pausesMethod('x402') && walletPanel(form)}
${methods.map((method) => coinPanel(method, form))}
${checkout && methods.length === 0 && html`<p class="hint">${t('form.coinsAway')}</p>`}
</fieldset>
${
  methods.length === 0
    ? html`<noscript><p class="hint">${t('form.noScriptAlone')}</p></noscript>`
    : html`<noscript><p class="hint">${t('form.noScript')}</p></noscript>
<div class="submit">
${deps.mail && mailField(form)}
<button class="button wide" type="submit">${t('form.continue')}</button>
<p class="hint">${t('form.nextText')}</p>
</div>`
}
</form>`
}

function summary({ faults, notice, t }: BuyForm) {
  if (faults.size === 0) {
    return (
      notice &&
      html`<div class="faults" role="alert" tabindex="-1" autofocus="autofocus"><p>${notice}</p></div>`
    )
  }
  return html`<div class="faults" role="alert" tabindex="-1" autofocus="autofocus" aria-labelledby="faults">
<h3 id="faults">${t('form.faultsTitle')}</h3>
<ul>
${[...faults].map(
  ([name, message]) => html`<li><a href="#${name}">${message}</a></li>
`,
)}</ul>
<p>${t('form.faultsText')}</p>
</div>`
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

function fieldsHtml(form: BuyForm): Html {
  const { offer, retail, deps, typed, faults, t } = form
  const fields = formFieldsOf(offer, retail, deps)
  const written = (list: readonly FormField[]) => list.map((field) => purchaseField(field, form))
  const requiredFields = fields.filter(({ isRequired }) => isRequired)
  const further = fields.filter(({ isRequired }) => !isRequired)
  const isOpen = further.some(({ name }) => faults.has(name) || typed.fields[name])
  return html`${
    requiredFields.length > 0 &&
    html`<fieldset><legend>${t(`form.heading.${offer.kind}`)}</legend>
${written(requiredFields)}${numberConfirmation(form)}</fieldset>`
  }
${
  further.length > 0 &&
  html`<details${isOpen && html` open="open"`}><summary>${t('form.recharge')}</summary>
${written(further)}</details>`
}`
}

function purchaseField(field: FormField, { offer, typed, faults, t }: BuyForm): Html {
  const { name } = field
  // Most people buy vouchers for the country that they live in.
  const preset = name === 'country' ? offer.country : undefined
  const value = typed.fields[name] ?? preset ?? ''
  const filledField = { ...field, value, fault: faults.get(name) }
  if (isCountryField(name)) {
    return fieldHtml(filledField, t, countryList(filledField, t('form.chooseCountry'), t))
  }
  return html`${fieldHtml(filledField, t)}${name === 'value' && faceValueHtml(offer, value, t)}`
}

/** What a card or a line receives for the amount in the form; a script updates it. */
function faceValueHtml(offer: Offer, typed: string, t: Texts): Html | undefined {
  const worth = worthOf(offer)
  if (worth.faceValue === undefined) return undefined
  const words = {
    text: t.template('form.receives'),
    about: t.template('offers.about'),
    language: t.language,
  }
  const data = JSON.stringify({ worth, words })
  return html`<output class="face-value" id="face-value" for="value" data-face="${data}">${receivesText(worth, typed, words)}</output>
`
}

/** The box that confirms a number in no numbering plan. Its value is that number, so another number needs another tick. */
function numberConfirmation({ offer, typed, t }: BuyForm): Html | undefined {
  if (offer.kind !== 'topup') return undefined
  const number = numberIn(typed, offer)
  const phone = readPhone(number, offer.country)
  if (!('number' in phone) || phone.isValid) return undefined
  const name = names.confirmed
  return html`<p class="confirm">
<input type="checkbox" id="${name}" name="${name}" value="${number}"${typed.confirmed === number && html` checked="checked"`}>
<label for="${name}">${t('form.numberIsRight')}</label>
</p>
`
}

function coinPanel({ coin, network }: PaymentMethod, form: BuyForm): Html {
  const { typed, faults, t } = form
  const name = names.refundTo(coin)
  const field = {
    name,
    label: t('form.refundTo', { coin: coinOn(coin, network, t) }),
    hint: t('form.refundWhy'),
    fault: faults.get(name),
    value: typed.refundTo[coin] ?? '',
    attributes: { ...codeAttributes, maxlength: '200' },
  }
  return html`<div class="way">
${wayRadio(coin, typed.pay)}
<label for="pay-${coin}"><b>${coinNames[coin]}</b> <span>${coinOn(coin, network, t)}</span> ${aboutHtml(coin, form)}</label>
<div class="panel">
<p class="hint">${t('form.network', { coin, network })}</p>
${fieldHtml(field, t)}</div>
</div>
`
}

function wayRadio(way: string, chosen: string): Html {
  return html`<input type="radio" id="pay-${way}" name="${names.pay}" value="${way}"${chosen === way && html` checked="checked"`}>`
}

/** A fixed price in the coin, at the last known rate; the next page shows the exact amount. */
function aboutHtml(coin: Coin, { retail, deps, t }: BuyForm): Html | undefined {
  const rate = Number(deps.rates?.(coin))
  if (retail.type !== 'FIXED' || !(rate > 0)) return undefined
  // Four significant digits are enough for an estimate.
  const rounded = Number((retail.cents / 100 / rate).toPrecision(4))
  const maximumFractionDigits = Math.min(coinDecimals[coin], 8)
  const amount = rounded.toLocaleString('en', { useGrouping: false, maximumFractionDigits })
  return html`<small>${t('form.about', { amount, coin })}</small>`
}

function mailField({ typed, faults, t }: BuyForm): Html {
  const field = {
    name: names.mail,
    label: t('form.mail'),
    hint: t('form.mailHint'),
    fault: faults.get(names.mail),
    value: typed.mail,
    isRequired: false,
    attributes: emailAttributes,
  }
  return fieldHtml(field, t)
}

/** What the wallet's script knows. It signs nothing that differs from this, whatever the store answers later. */
export interface WalletSettings extends Pick<Payee, 'network' | 'payTo'> {
  readonly store: string
  readonly offerId: string
  readonly purchaseUrl: string
}

/** The names of the messages of paying from a wallet, without "wallet." before them. */
export type WalletText = {
  [Id in MessageId]: Id extends `wallet.${infer Name}` ? Name : never
}[MessageId]

/** Why nothing was paid. Faults of the form have no message here: the page of the form shows them. */
export type PayFault =
  | 'form'
  | { [Id in MessageId]: Id extends `wallet.faults.${infer Fault}` ? Fault : never }[MessageId]

const walletTexts = Object.keys(messagesOf('en')).flatMap((id) =>
  id.startsWith('wallet.') ? [id.slice('wallet.'.length) as WalletText] : [],
)

/** The panel for paying from a wallet in this browser. It is hidden until the script shows it. */
function walletPanel({ offer, deps, typed, t }: BuyForm): Html {
  const { network, payTo } = deps.payee
  const purchaseUrl = purchasePath(offer.kind)
  const settings = { store: deps.site.name, offerId: offer.id, purchaseUrl, network, payTo }
  const words = Object.fromEntries(walletTexts.map((name) => [name, t.template(`wallet.${name}`)]))
  return html`<div class="way" id="wallet" data-settings="${JSON.stringify(settings)}" data-texts="${JSON.stringify(words)}" hidden="hidden">
${wayRadio(walletWay, typed.pay)}
<label for="pay-${walletWay}"><b>${t('form.wallet', { network: network.name })}</b> <span>${t('form.walletHint')}</span></label>
<div class="panel">
<div class="wallets" id="wallets" tabindex="-1"></div>
<p class="fault" id="wallet-fault" role="alert"></p>
<p class="step" id="wallet-step" role="status"></p>
<button class="button wide" type="button" id="wallet-pay" hidden="hidden"></button>
</div>
</div>
`
}
