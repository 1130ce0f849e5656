import type { Bought } from '../../api/checkout.ts'
import { findPath } from '../../api/tracking/find.ts'
import type { OrderPageView, OwnOrderView, TransactionLink } from '../../api/tracking/order-view.ts'
import { linkTokenDays } from '../../api/tracking/tokens.ts'
import type { DescribedOffer } from '../../catalog/offer.ts'
import { speltNumber } from '../../catalog/phone.ts'
import { isVoid, maxKept, type Return } from '../../checkouts/checkout.ts'
import type { OrderId } from '../../lib/ids.ts'
import { formatUsdc } from '../../lib/money.ts'
import { type Coin, formatUnits } from '../../payments/coins.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import {
  codeAttributes,
  copied,
  fact,
  fieldHtml,
  onlyField,
  timeOf,
  timeTag,
} from '../frame/parts.ts'
import { orderPagePath } from '../paths.ts'
import { faceText, moneyText } from '../shop/money-text.ts'
import { kindName, measure, placeName, placesOf } from '../shop/offer-words.ts'
import { countryName, type Texts, type Titled, titled } from '../texts/texts.ts'

/** A transaction hash to copy, with a link to an explorer if there is one. */
export function transactionOf(
  id: string,
  { transaction, url }: TransactionLink,
  what: string,
  t: Texts,
): Html {
  const link =
    url && html` <a class="look" href="${url}" rel="noopener noreferrer">${t('orders.look')}</a>`
  return html`${copied(id, transaction, what, t)}${link}`
}

export function stageTexts({ stage, coin, own }: OrderPageView, t: Texts): Titled {
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

/** The attributes by which `scripts/recent.js` lists the order on the page that finds orders; they cannot open it. */
export function recentMark(id: OrderId, { brandName }: Pick<Bought, 'brandName'>, at: Date): Html {
  return html` data-recent="${id}" data-recent-name="${brandName}" data-recent-at="${at.toISOString()}"`
}

/** Of more countries than this, only the first are named and the others counted. */
const maxPlaces = 12

/** What is bought: "Steam gift card, about €21.50", "Travel eSIM data plan, 5 GB, 30 days". */
export function itemText({ brandName, kind, offer, receives, value }: Bought, t: Texts): string {
  const name = offer ? kindName(offer, t, 'Within') : t(`offers.kindNamesWithin.${kind}`)
  const isPlan = offer !== undefined && offer.kind !== 'voucher' && value === undefined
  const amount = receives && faceText(receives, t)
  const what = isPlan ? measure(offer, t) : amount
  return [t('bought.item', { brand: brandName, kind: name }), what].filter(Boolean).join(', ')
}

/** The same in one line: "Steam gift card, about €21.50, Austria". */
export function boughtText(bought: Bought, t: Texts): string {
  const { offer, country, phone } = bought
  const place = offer ? placeName(offer, t) : country && countryName(country, t)
  const number = phone && speltNumber(phone)
  return [itemText(bought, t), place, number].filter(Boolean).join(', ')
}

export function boughtFacts(bought: Bought, t: Texts): (Html | undefined)[] {
  const { kind, offer, country, phone, receives, fairUse } = bought
  const face = receives && faceText(receives, t)
  const places = offer ? placesText(offer, t) : country && countryName(country, t)
  return [
    fact(t(kind === 'esim' ? 'bought.worksIn' : 'bought.country'), places),
    fact(t('bought.phone'), phone && speltNumber(phone)),
    fact(t('bought.receives'), face && itemText(bought, t).includes(face) ? undefined : face),
    fact(t('bought.chosen'), chosenText(bought, t)),
    fact(t('bought.fairUse'), fairUse),
  ]
}

function placesText(offer: DescribedOffer, t: Texts): string {
  const places = placesOf(offer, t)
  return places.length > maxPlaces ? placeName(offer, t) : places.join(', ')
}

/** The value that the buyer chose, if it differs from what the card receives. */
function chosenText({ offer, value, receives }: Bought, t: Texts): string | undefined {
  if (offer === undefined || value === undefined || receives === undefined) return undefined
  const { currency, divisor } = offer.price
  const chosen = moneyText({ type: 'FIXED', currency, divisor, fixed: value }, t)
  return faceText({ ...receives, isExact: true }, t) === chosen ? undefined : chosen
}

type Station = readonly [
  step: 'awaiting' | 'checking' | 'sending' | 'byHand' | 'stuck' | 'notPaid' | 'notTaken' | Timed,
  state: 'done' | 'now' | 'next' | 'bad',
]
type Timed = 'paid' | 'delivering' | 'delivered' | 'notDelivered' | 'sent'

const toDelivery: readonly Station[] = [
  ['delivering', 'next'],
  ['delivered', 'next'],
]
const failed: readonly Station[] = [
  ['paid', 'done'],
  ['notDelivered', 'bad'],
]

/** The stations on the way of an order. */
const journeys: Readonly<Record<OrderPageView['stage'], readonly Station[]>> = {
  awaiting_payment: [['awaiting', 'now'], ...toDelivery],
  checking_payment: [['checking', 'now'], ...toDelivery],
  not_paid: [['notPaid', 'bad']],
  delivering: [
    ['paid', 'done'],
    ['delivering', 'now'],
    ['delivered', 'next'],
  ],
  delivered: [
    ['paid', 'done'],
    ['delivered', 'done'],
  ],
  not_taken: [
    ['notDelivered', 'bad'],
    ['notTaken', 'done'],
  ],
  refunding: [...failed, ['sending', 'now'], ['sent', 'next']],
  refund_by_hand: [...failed, ['byHand', 'now'], ['sent', 'next']],
  refund_stuck: [...failed, ['stuck', 'now'], ['sent', 'next']],
  refunded: [...failed, ['sent', 'done']],
}

export function timeline({ stage, times }: OrderPageView, t: Texts): Html {
  const ends: Readonly<Partial<Record<Station[0], Date | undefined>>> = {
    paid: times.paid,
    delivered: times.delivered,
    notDelivered: times.failed,
    sent: times.refunded,
  }
  const note = ([step, state]: Station) => {
    if (state === 'next') return t('orders.steps.next')
    if (state !== 'now') return ends[step] && timeOf(ends[step], t)
    return step === 'delivering' && times.deliverBy
      ? t('orders.steps.latest', timeTag(times.deliverBy, t))
      : t('orders.steps.now')
  }
  return html`<ol class="journey" aria-label="${t('orders.timeline')}">${journeys[stage].map(
    (station) => html`
<li class="${station[1]}"${station[1] === 'now' && html` aria-current="step"`}><b>${t(`orders.steps.${station[0]}`)}</b> <small>${note(station)}</small></li>`,
  )}
</ol>`
}

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

/** The private link and the recovery code: a buyer who loses the page gets back to it with either. */
export function keepPart(link: string, text: string, code: string | undefined, t: Texts): Html {
  return html`<section class="sheet private" aria-labelledby="keep">
<h2 id="keep">${t('orders.keep.title')}</h2>
<p>${text}</p>
${copied('link', link, t('orders.keep.label'), t)}
${code && html`<p>${t('orders.keep.code')} ${copied('recovery-code', code, t('orders.keep.codeLabel'), t)}</p>`}
</section>`
}

interface AccessForm {
  readonly action: string
  /** The number of the order, if the action does not contain it. */
  readonly number?: string
  /** Shown if the sent link or code does not open the order. */
  readonly fault?: string | undefined
  readonly typed?: string | undefined
}

/** The form that opens an order, or its payment, with the private link or the recovery code. */
export function accessForm({ action, number, fault, typed = '' }: AccessForm, t: Texts): Html {
  const field = {
    name: 'token',
    label: t('orders.locked.label'),
    hint: t('orders.locked.help'),
    fault,
    value: typed,
    isRequired: true,
    attributes: { ...codeAttributes, maxlength: '600' },
  }
  return html`<form method="post" action="${action}">
${number !== undefined && html`<input type="hidden" name="number" value="${number}">`}
${onlyField(field, t)}
<p class="act"><button class="button" type="submit">${t('orders.locked.open')}</button></p>
</form>`
}

/** For visitors who have neither: a link to write a mail to the store, with the number in its subject. */
export function lostBoth(contact: string, number: string, t: Texts): Html {
  return html`<p class="hint">${t('orders.locked.lost')} <a href="mailto:${contact}?subject=${encodeURIComponent(number)}">${t('orders.locked.write')}</a></p>`
}

export interface Refused {
  readonly typed: string
  /** Whether it opened the order before it expired. */
  readonly isOld: boolean
}

interface LockedParts {
  readonly t: Texts
  readonly refused?: Refused | undefined
  readonly sendsMail?: boolean
  readonly contact: string
}

/** Shown to visitors who have not opened the order: the form, and the other ways to open it. */
export function lockedPart({ id, coin }: OrderPageView, parts: LockedParts): Html {
  const { refused, sendsMail = false, contact, t } = parts
  const fault = refused?.isOld
    ? t('orders.locked.old', { days: linkTokenDays })
    : refused && t('orders.locked.wrong')
  return html`<section class="sheet locked" aria-labelledby="locked">
<h2 id="locked">${t('orders.locked.title')}</h2>
<p>${t('orders.locked.text')}</p>
${accessForm({ action: `${orderPagePath(id)}/open`, fault, typed: refused?.typed }, t)}
${coin === undefined && html`<p class="hint">${t('orders.locked.byWallet')} <a href="${findPath}#by-wallet">${t('orders.locked.signIn')}</a></p>`}
${sendsMail && html`<p class="hint">${t('orders.locked.byMail')} <a href="${findPath}#by-mail">${t('orders.locked.askMail')}</a></p>`}
${lostBoth(contact, id, t)}
</section>`
}

/** The page of a link whose token is after its `#`, where no proxy logs it: a form, which its script fills in. */
export function linkPage(name: 'reveal' | 'approve.open', path: string, t: Texts): Page {
  const field = {
    name: 'token',
    label: t(`${name}.label`),
    hint: t(`${name}.help`),
    value: '',
    isRequired: true,
    attributes: { autocomplete: 'off', spellcheck: 'false' },
  }
  // To look at an approval uses up nothing, so that form is sent without a press of the button.
  const sending = name === 'approve.open' && html` data-send=""`
  return {
    title: t(`${name}.title`),
    description: t(`${name}.about`),
    scripts: ['reveal.js'],
    main: html`<section class="message">
<h1>${t(`${name}.title`)}</h1>
<p>${t(`${name}.about`)}</p>
<form class="reveal" method="post" action="${path}"${sending}>
${fieldHtml(field, t)}
<p class="act"><button class="button" type="submit">${t(`${name}.show`)}</button></p>
</form>
</section>`,
  }
}
