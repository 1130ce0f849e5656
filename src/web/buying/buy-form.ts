import { beginningOf } from '../../api/fault-words.ts'
import type { Offer } from '../../catalog/offer.ts'
import { worthOf } from '../../catalog/offer-details.ts'
import { readPhone } from '../../catalog/phone.ts'
import type { Retail } from '../../catalog/pricing.ts'
import type { PaymentMethod } from '../../checkouts/ports.ts'
import { usdcFromCents } from '../../lib/money.ts'
import { type Coin, coinDecimals, formatUnits } from '../../payments/coins.ts'
import { type Html, html } from '../frame/html.ts'
import {
  attributesHtml,
  emailAttributes,
  type Field,
  faultHtml,
  fieldHtml,
  tiesOf,
} from '../frame/parts.ts'
import { buyPath } from '../paths.ts'
import { coinNames, coinOn } from '../shop/money-text.ts'
import { countriesByName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'
import { receivesText } from './field-value.ts'
import { type FormFaults, type FormField, names, numberIn, type Typed } from './form.ts'
import type { CoinRates } from './starting.ts'
import { type WalletSettings, walletPanel } from './wallet-panel.ts'

interface BuyForm {
  readonly offer: Offer
  readonly retail: Retail
  readonly fields: readonly FormField[]
  readonly methods: readonly PaymentMethod[]
  readonly takesMail: boolean
  readonly typed: Typed
  readonly faults: FormFaults
  /** Shown above the form, if it could not be accepted for another reason than its fields. */
  readonly notice?: string | undefined
  readonly wallet: WalletSettings
  readonly rates: CoinRates
  readonly t: Texts
}

/** The form of an offer: the fields of the purchase, and how it is paid. It needs no script. */
export function buyForm(form: BuyForm): Html {
  const { offer, typed, t, methods } = form
  return html`<form class="buy" id="buy" method="post" action="${buyPath(offer)}" novalidate="novalidate">
<h2>${t('form.buy')}</h2>
${summary(form)}
${hidden(names.formKey, typed.formKey)}
${hidden(names.seen, typed.seen)}
${fieldsHtml(form)}
<fieldset class="pay" id="${names.pay}"${describedFault(form, names.pay)}>
<legend>${t('form.pay')}</legend>
${faultHtml(names.pay, form.faults.get(names.pay))}
${walletPanel(form.wallet, form.fields, t)}
${methods.map((method) => coinPanel(method, form))}
</fieldset>
${
  methods.length === 0
    ? html`<noscript><p class="hint">${t('form.noScriptAlone')}</p></noscript>`
    : html`<noscript><p class="hint">${t('form.noScript')}</p></noscript>
<div class="submit">
${form.takesMail && mailField(form)}
<button class="button wide" type="submit">${t('form.continue')}</button>
<p class="hint">${t('form.nextText')}</p>
</div>`
}
</form>`
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

function fieldsHtml({ fields, typed, faults, t, offer }: BuyForm): Html {
  const written = (list: readonly FormField[]) =>
    list.map((field) => {
      const value = typed.fields[field.name] ?? presetOf(field, offer)
      const shown = { ...field, value, fault: faults.get(field.name) }
      if (field.name === 'country') return fieldHtml(shown, t, countryList(shown, t))
      if (field.name !== 'value') return fieldHtml(shown, t)
      return html`${fieldHtml(shown, t)}${faceShown(offer, value, t)}`
    })
  const asked = fields.filter(({ isRequired }) => isRequired)
  const further = fields.filter(({ isRequired }) => !isRequired)
  const isOpen = further.some(({ name }) => faults.has(name) || typed.fields[name])
  return html`${
    asked.length > 0 &&
    html`<fieldset><legend>${t(`form.heading.${offer.kind}`)}</legend>
${written(asked)}${numberConfirmation(offer, typed, t)}</fieldset>`
  }
${
  further.length > 0 &&
  html`<details${isOpen && html` open="open"`}><summary>${t('form.recharge')}</summary>
${written(further)}</details>`
}`
}

function countryList(field: Field, t: Texts): Html {
  const chosen = field.value.toUpperCase()
  return html`<select${attributesHtml({ ...field.attributes, ...tiesOf(field) })}>
<option value="">${t('form.chooseCountry')}</option>
${countriesByName(t).map(
  ({ code, name }) =>
    html`<option value="${code}"${code === chosen && html` selected="selected"`}>${name}</option>
`,
)}</select>`
}

/** Most people buy vouchers for the country that they live in. */
function presetOf({ name }: FormField, { country }: Offer): string {
  return name === 'country' ? (country ?? '') : ''
}

function coinPanel(method: PaymentMethod, form: BuyForm): Html {
  const { coin, network } = method
  const { typed, faults, t } = form
  const name = names.refundTo(coin)
  const field = {
    name,
    label: t('form.refundTo', { coin: coinOn(coin, network, t) }),
    hint: t('form.refundWhy'),
    fault: faults.get(name),
    value: typed.refundTo[coin] ?? '',
    attributes: {
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
      maxlength: '200',
    },
  }
  return html`<div class="way">
<input type="radio" id="pay-${coin}" name="${names.pay}" value="${coin}"${typed.pay === coin && html` checked="checked"`}>
<label for="pay-${coin}"><b>${coinNames[coin]}</b> <span>${coinOn(coin, network, t)}</span> ${aboutHtml(coin, form)}</label>
<div class="panel">
<p class="hint">${t('form.network', { coin, network })}</p>
${fieldHtml(field, t)}</div>
</div>
`
}

/** A fixed price in the coin, at the last known rate; the next page shows the exact amount. */
function aboutHtml(coin: Coin, { retail, rates, t }: BuyForm): Html | undefined {
  const rate = Number(rates(coin))
  if (retail.type !== 'FIXED' || !(rate > 0)) return undefined
  const units = unitsOf(Number(usdcFromCents(retail.cents)) / 1e6 / rate, coin)
  return html`<small>${t('form.about', { amount: formatUnits(units, coin), coin })}</small>`
}

/** Four significant digits are enough for an estimate. */
function unitsOf(amount: number, coin: Coin): bigint {
  const rounded = Number(amount.toPrecision(4))
  return (
    BigInt(Math.round(rounded * 10 ** Math.min(coinDecimals[coin], 8))) *
    10n ** BigInt(Math.max(0, coinDecimals[coin] - 8))
  )
}

function summary({ faults, notice, t }: BuyForm): Html | undefined {
  if (faults.size === 0) {
    return notice === undefined
      ? undefined
      : html`<div class="faults" role="alert" tabindex="-1" autofocus="autofocus"><p>${notice}</p></div>`
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

function describedFault({ faults }: BuyForm, name: string): Html {
  return html` aria-describedby="${name}-fault"${faults.has(name) && html` aria-invalid="true"`}`
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

/** What a card or a line receives for the amount in the form; a script updates it. */
function faceShown(offer: Offer, typed: string, t: Texts): Html | undefined {
  const worth = worthOf(offer)
  if (worth.faceValue === undefined) return undefined
  const words = {
    text: t.open('form.receives'),
    about: t.open('offers.about'),
    language: t.language,
  }
  const data = { worth, words }
  return html`<output class="face-value" id="face-value" for="value" data-face="${JSON.stringify(data)}">${receivesText(worth, typed, words)}</output>
`
}

/**
 * The checkbox by which a buyer confirms a number that is in no numbering plan. Its value is that number, so another
 * number needs another confirmation. The wallet's script shows it when the store asks for it.
 */
function numberConfirmation(offer: Offer, typed: Typed, t: Texts): Html | undefined {
  if (offer.kind !== 'topup') return undefined
  const number = numberIn(typed, offer)
  const read = readPhone(number, offer.country)
  const isAsked = 'number' in read && !read.isValid
  const isTicked = isAsked && typed.confirmed === number
  const name = names.confirmed
  return html`<p class="confirm" data-said="${beginningOf('unassigned_number', 'msisdn')}"${!isAsked && html` hidden="hidden"`}>
<input type="checkbox" id="${name}" name="${name}" value="${isAsked ? number : ''}"${isTicked && html` checked="checked"`}>
<label for="${name}">${t('form.numberIsRight')}</label>
</p>
`
}
