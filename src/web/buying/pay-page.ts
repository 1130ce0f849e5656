import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Bought, CheckoutService, CheckoutView } from '../../api/checkout.ts'
import type { OrderTrackingDeps } from '../../api/tracking/order-view.ts'
import { lastingIn, linkTokenForCode } from '../../api/tracking/tokens.ts'
import { isVoid, maxKept } from '../../checkouts/checkout.ts'
import { formatUsdc } from '../../lib/money.ts'
import { recoveryCodeOf } from '../../orders/finding.ts'
import { type Coin, formatUnits } from '../../payments/coins.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Frame, Page } from '../frame/layout.ts'
import { copied, fact, qrSvg, timeTag } from '../frame/parts.ts'
import { privately, sayPrivately, sendPrivately } from '../frame/senders.ts'
import {
  accessForm,
  boughtFacts,
  itemText,
  keepPart,
  lostBoth,
  recentMark,
  returned,
} from '../orders/parts.ts'
import { buyPath, followed, isUpToDate, orderPagePath, payPath, reloading } from '../paths.ts'
import { coinNames, coinOn } from '../shop/money-text.ts'
import type { Texts } from '../texts/texts.ts'
import { accessIn, formIn, readsOrders, readToken, rememberOrder, routeForm } from '../visitor.ts'
import type { PayingDeps } from './buy-form.ts'

interface PayPageDeps extends WebDeps, PayingDeps {
  readonly frame: Frame
  readonly checkout: CheckoutService
  readonly follow: OrderTrackingDeps
}

type PayRequest = FastifyRequest<{ Params: { id: string } }>

export function routePaying(pages: FastifyInstance, deps: PayPageDeps): void {
  const { frame } = deps
  pages.get('/pay/:id', readsOrders, async (request: PayRequest, reply) => {
    const token = accessIn(request)
    const view = await deps.checkout.view(request.params.id, token)
    if (view === undefined) return sayPrivately(reply.code(404), frame, 'pay.notFound')
    // The page of the order shows the rest, unless this page still follows a return.
    const isOver = view.isOwner && view.stage === 'paid' && view.returns.length === 0
    if (isOver) return privately(reply).redirect(orderPagePath(view.orderId), 303)
    if (isUpToDate(request, versionOf(view))) return privately(reply).code(304).send()
    return sendPrivately(reply, frame, payPage(view, deps, token))
  })
  routeForm(pages, '/pay/:id/open', readsOrders, (request: PayRequest, reply) =>
    openPayment(request, reply, deps),
  )
}

async function openPayment(request: PayRequest, reply: FastifyReply, deps: PayPageDeps) {
  const { frame } = deps
  const { id } = request.params
  const typed = formIn(request).get('token') ?? ''
  const view = await deps.checkout.view(id, readToken(typed))
  if (view === undefined) return sayPrivately(reply.code(404), frame, 'pay.notFound')
  const { orderId } = view
  const token = view.isOwner ? readToken(typed) : linkTokenForCode(deps.follow, orderId, typed)
  if (token === undefined) {
    return sendPrivately(reply.code(422), frame, payPage(view, deps, undefined, true))
  }
  rememberOrder(reply, { orderId, checkout: view.id, token, siteUrl: deps.site.url })
  return privately(reply).redirect(payPath(view.id), 303)
}

const finished: ReadonlySet<CheckoutView['stage']> = new Set(['refused', 'paid'])

const asking: ReadonlySet<CheckoutView['stage']> = new Set(['waiting', 'partly_paid'])

const over: ReadonlySet<CheckoutView['stage']> = new Set(['refused', 'expired'])

/** @param isTokenWrong whether the visitor just pasted a link or a code that does not open the payment */
function payPage(
  view: CheckoutView,
  deps: PayPageDeps,
  token: string | undefined,
  isTokenWrong = false,
): Page {
  const { t } = deps
  const { title, text, say } = wordsFor(view, t)
  const isUnderWay = view.returns.some((one) => one.payout.state !== 'CONFIRMED' && !isVoid(one))
  const isFinished = finished.has(view.stage) && !isUnderWay
  const page = payPath(view.id)
  const mark = { version: versionOf(view), page, say, isFinished }
  return {
    title: view.isOwner ? `${title} · ${view.brandName}` : title,
    description: t('pay.about'),
    scripts: ['follow.js', 'open.js', 'copy.js', 'recent.js'],
    // A reload would lose what a visitor pastes into the page.
    ...reloading(page, view.isOwner && !isFinished),
    main: html`<div class="paying"${followed(mark)}${view.bought && recentMark(view.orderId, view.bought, view.startedAt)}>
<h1>${title}</h1>
<p class="lead">${text}</p>
${view.bought && boughtPart(view, view.bought, t)}
${view.isOwner ? ownPart(view, deps, token) : foreignPart(view, deps, isTokenWrong)}
</div>`,
  }
}

/** Visitors without the token see no address, so they are told the state and not what to pay. */
function wordsFor({ stage, isOwner, abilities }: CheckoutView, t: Texts) {
  if (!isOwner) {
    const state = t(`pay.stages.${stage}.state`)
    return { title: t('pay.foreignHeading'), text: state, say: state }
  }
  const isUnseen = stage === 'expired' && !abilities.isSeenLate
  return {
    title: t(`pay.stages.${stage}.title`),
    text: isUnseen
      ? t('pay.expiredUnseen')
      : t(`pay.stages.${stage}.text`, { least: formatUsdc(maxKept) }),
    say: t(`pay.stages.${stage}.say`),
  }
}

function ownPart(view: CheckoutView, deps: PayPageDeps, token: string | undefined): Html {
  const { t, site, follow, sandboxPayUrl } = deps
  const { id, invoice, stage, orderId, refundTo } = view
  const isAsking = invoice && asking.has(stage)
  // A visitor with a link token, which expires, is not given the token that opens the payment for good.
  const { token: ownerToken } = lastingIn({ token })
  const link = ownerToken && `${site.url}${payPath(id)}#${ownerToken}`
  return html`${isAsking && invoiceCard(view, invoice, t, sandboxPayUrl?.(invoice.id))}
${nextStep(view, t)}
${returnsOf(view, t)}
${link && stage !== 'refused' && keepPart(link, t(over.has(stage) ? 'pay.keepOver' : 'pay.keep'), recoveryCodeOf(follow, orderId), t)}
${isAsking && troubles(invoice.watchedUntil, view.abilities, t)}
<dl class="facts">
${fact(t('pay.backTo'), refundTo && copied('back-to', refundTo, t('pay.backTo'), t))}${fact(t('pay.number'), copied('payment', id, t('pay.number'), t))}</dl>`
}

/** What is bought, above the amount to send: the buyer's last chance to see a mistake. */
function boughtPart(view: CheckoutView, bought: Bought, t: Texts): Html {
  const isOver = over.has(view.stage)
  return html`<section class="sheet bought" aria-labelledby="bought">
<h2 id="bought">${isOver ? t('bought.titleOver') : t('bought.title')}</h2>
<p class="item">${itemText(bought, t)}</p>
<dl class="facts">
${boughtFacts(bought, t)}${fact(t('bought.price'), `${formatUsdc(view.amount)} USD`)}</dl>
${view.stage === 'waiting' && html`<p class="change"><a href="${buyPath({ id: view.offerId })}">${t('bought.change')}</a></p>`}
</section>`
}

function nextStep({ stage, orderId, offerId }: CheckoutView, t: Texts): Html | undefined {
  if (stage === 'paid') {
    return html`<p class="act"><a class="button wide" href="${orderPagePath(orderId)}">${t('pay.toOrder')}</a></p>`
  }
  if (!over.has(stage)) return undefined
  const path = buyPath({ id: offerId })
  return html`<p class="act"><a class="button wide" href="${path}">${t('pay.again')}</a></p>`
}

function troubles(
  watchedUntil: Date,
  { isSent, isSeenLate }: CheckoutView['abilities'],
  t: Texts,
): Html {
  return html`<details class="troubles"><summary>${t('pay.detailsTitle')}</summary>
<ul>
<li>${t('pay.less')}</li>
<li>${t('pay.more')}</li>
<li>${isSeenLate ? t('pay.late', timeTag(watchedUntil, t)) : t('pay.lateUnseen')}</li>
<li>${isSent ? t('pay.fees') : t('pay.byHand')}</li>
<li>${t('pay.small', { most: formatUsdc(maxKept) })}</li>
</ul>
</details>`
}

function returnsOf({ returns, coin }: CheckoutView, t: Texts): Html | undefined {
  if (returns.length === 0) return undefined
  return html`<section class="sheet returns" aria-labelledby="returns">
<h2 id="returns">${t('pay.backTitle')}</h2>
<ul>
${returns.map(
  (one) => html`<li>${returned(one, coin, t)}</li>
`,
)}</ul>
</section>`
}

/** What a visitor sees without the private link: the state of the payment, and a field for the link. */
function foreignPart({ id }: CheckoutView, { t, site }: PayPageDeps, isTokenWrong: boolean): Html {
  const fault = isTokenWrong ? t('orders.locked.wrong') : undefined
  return html`<section class="sheet" aria-labelledby="foreign">
<h2 id="foreign">${t('pay.foreignTitle')}</h2>
<p>${t('pay.foreign')}</p>
${accessForm({ action: `${payPath(id)}/open`, fault }, t)}
${lostBoth(site.contact, id, t)}
</section>`
}

type Invoice = NonNullable<CheckoutView['invoice']>

function invoiceCard(view: CheckoutView, invoice: Invoice, t: Texts, sandboxUrl?: string): Html {
  const { coin, network } = view
  const { seen, due } = invoice
  const isPartlyPaid = view.stage === 'partly_paid'
  const whole = `${formatUnits(seen + due, coin)} ${coin}`
  const arrived = isPartlyPaid
    ? t('pay.arrived', { seen: formatUnits(seen, coin), whole })
    : t('pay.worth', { usdc: formatUsdc(view.amount) })
  const link = paymentLinkFor(invoice.paymentLink, coin, due)
  return html`<div class="sheet invoice">
<p class="chain">${coinNames[coin]} (${coinOn(coin, network, t)})</p>
<div class="sum">
<h2>${isPartlyPaid ? t('pay.amountRest') : t('pay.amount')}</h2>
${copied('amount', formatUnits(due, coin), t('pay.amount'), t, coin)}
<p class="hint">${arrived} · ${t('pay.rate', { coin, rate: invoice.rate })}</p>
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

/** The deadline, with the minutes that are left near the end; earlier they would only hurry the buyer. */
function deadline(view: CheckoutView, { expiresAt }: Invoice, t: Texts): Html {
  const minutes = minutesLeft(view)
  return html`<p class="until">${t('pay.rateHeld', timeTag(expiresAt, t))} <b role="timer">${minutes > 0 && t('pay.minutesLeft', { minutes })}</b></p>`
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

const printable = /^[\x21-\x7e]+$/

/** The link of the processor with this amount; undefined if it is none that wallets open with an amount. */
function paymentLinkFor(link: string, coin: Coin, units: bigint): string | undefined {
  const form = forms.find((one) => one.link.test(link))
  if (form === undefined || !printable.test(link)) return undefined
  const amount = new RegExp(`([?&]${form.amount}=)[^&#]*`, 'i')
  if (!amount.test(link)) return undefined
  return link.replace(amount, `$1${form.inUnits ? units : formatUnits(units, coin)}`)
}

const nearMinutes = 5

/** Whole minutes, rounded up, during the last minutes of an open invoice; 0 otherwise. */
function minutesLeft({ now, invoice }: CheckoutView): number {
  const ms = invoice === undefined ? 0 : invoice.expiresAt.getTime() - now.getTime()
  const minutes = Math.ceil(ms / 60_000)
  return minutes > 0 && minutes <= nearMinutes ? minutes : 0
}

function versionOf(view: CheckoutView): string {
  return `${view.version}-${minutesLeft(view)}`
}
