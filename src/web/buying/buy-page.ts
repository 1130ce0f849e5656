import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CheckoutService } from '../../api/checkout.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { clientKeyOf } from '../../http/client-key.ts'
import { counted } from '../../http/gate.ts'
import type { Limits, RateLimiter } from '../../http/rate-limit.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { type Crumb, crumbTrail, document, type Frame, type Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { pageHeaders } from '../frame/page-headers.ts'
import { fact } from '../frame/parts.ts'
import { withRetryAfter } from '../frame/retry-after.ts'
import { buyPath, payPath, searchPath } from '../paths.ts'
import { cardFace } from '../shop/card-face.ts'
import { type PriceTexts, priceTexts } from '../shop/money-text.ts'
import { kindName, measure, placeName, productName } from '../shop/offer-words.ts'
import { type Texts, type TitledName, titled } from '../texts/texts.ts'
import { rememberOrder } from '../visit/access.ts'
import { formIn, isFromElsewhere } from '../visit/forms.ts'
import { agentSection } from './agent-section.ts'
import { buyForm } from './buy-form.ts'
import { choicesSection } from './choices.ts'
import type { PayingDeps } from './deps.ts'
import { noFaults } from './faults.ts'
import { formFieldsOf } from './form-fields.ts'
import { aboutSection } from './offer-sections.ts'
import { productData } from './product-data.ts'
import { type FormAgain, startFrom } from './starting.ts'
import { untyped } from './typed.ts'
import { walletSettings } from './wallet-panel.ts'

/** Every field of the form, each as long as it may be. */
const maxForm = 8 * 1_024
/** Each form has its own key, so shared caches may not keep the page; the browser may, for going back. */
const ownCopy = 'private, no-cache'

interface BuyRoutes {
  readonly frame: Frame
  readonly deps: WebDeps & PayingDeps & { readonly limits: Pick<Limits, 'checkout'> }
}

type OfferRequest = FastifyRequest<{ Params: { offerId: string } }>

/** The page of an offer, and its form, which starts a checkout in a coin. */
export function routeBuying(pages: FastifyInstance, routes: BuyRoutes): void {
  const config = { limit: 'reading' } as const
  pages.get('/buy/:offerId', { config }, (request: OfferRequest, reply) => {
    const { find, findLike } = routes.deps.liveCatalog.current()
    const { offerId } = request.params
    const meant = find(offerId) === undefined ? findLike(offerId) : undefined
    // People copy ids by hand, and some mail programs change them to lower case.
    if (meant !== undefined) return reply.redirect(buyPath(meant), 302)
    reply.header('cache-control', ownCopy)
    return send(reply, routes, offerOf(request, routes))
  })
  const posted = { config: { limit: 'purchase' }, bodyLimit: maxForm } as const
  pages.post('/buy/:offerId', posted, (request: OfferRequest, reply) => {
    reply.header('cache-control', 'no-store')
    return take(request, reply, routes)
  })
}

async function take(request: OfferRequest, reply: FastifyReply, routes: BuyRoutes) {
  const { deps } = routes
  if (isFromElsewhere(request)) return say(reply.code(403), routes, 'form.elsewhere')
  const offer = offerOf(request, routes)
  const { checkout: checkouts, limits } = deps
  const checkout = checkouts && admitted(checkouts, limits.checkout, { request, reply })
  const taken = await startFrom({ ...deps, checkout }, offer, formIn(request), request.log)
  switch (taken.type) {
    case 'strange':
      return say(reply.code(400), routes, 'form.strange')
    case 'again':
      return send(withRetryAfter(reply.code(taken.status), taken), routes, offer, taken)
    case 'started': {
      const { id, orderId, accessToken: token } = taken
      request.orderId = orderId
      rememberOrder(reply, { orderId, checkout: id, token, siteUrl: deps.site.url })
      return reply.redirect(payPath(id), 303)
    }
  }
}

function offerOf({ params }: OfferRequest, { deps }: BuyRoutes): Offer {
  const offer = deps.liveCatalog.current().find(params.offerId)
  if (offer === undefined) {
    throw new Refusal('offer_not_found', deps.t('messages.offerNotFound.text'))
  }
  return offer
}

function send(reply: FastifyReply, routes: BuyRoutes, offer: Offer, again?: FormAgain) {
  return sendPage(reply, routes, buyPage(offer, routes.deps, again))
}

function say(reply: FastifyReply, routes: BuyRoutes, message: TitledName) {
  const { t } = routes.deps
  return sendPage(reply, routes, messagePage(titled(t, message), t))
}

function sendPage(reply: FastifyReply, { frame, deps }: BuyRoutes, page: Page) {
  return reply
    .headers(pageHeaders(page, [deps.site.logo]))
    .type('text/html; charset=utf-8')
    .send(document(frame, page))
}

/**
 * The checkout service for one visitor. It limits how many checkouts a visitor starts and how many of them
 * are unpaid, because each takes an address of the processor and is watched for days, paid or not. A form
 * with faults does not count. The place is taken before the checkout is made, so that no two take the last.
 *
 * @returns a service whose `start` throws Refusal `rate_limited` and `budget_spent` besides
 */
function admitted(
  checkouts: CheckoutService,
  limiter: RateLimiter,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): CheckoutService {
  const client = clientKeyOf(request.ip)
  return {
    ...checkouts,
    start: (form) =>
      checkouts.start({ ...form, client }, async () =>
        counted(limiter, await limiter.take(client), reply),
      ),
  }
}

/**
 * The page of one offer, where its `buy_url` leads.
 *
 * @param again the form as it was sent, if it was
 */
export function buyPage(offer: Offer, deps: WebDeps & PayingDeps, again?: FormAgain): Page {
  const { site, pricing, t } = deps
  const price = priceTexts(retailOf(offer, pricing), t)
  const path = buyPath(offer)
  const name = productName(offer, t)
  return {
    title: isFaulty(again) ? `${t('form.errorPrefix')}${name}` : name,
    description: descriptionOf(offer, price, t),
    path,
    openGraph: { 'og:type': 'product', ...pictureTag(offer), ...priceTags(price) },
    crumbs: crumbsOf(offer, t),
    scripts: price.type === 'NOT_SOLD' ? [] : ['typed.js', 'wallet.js'],
    // Wallets announce their icons as data URLs.
    drawsPictures: true,
    data: productData(offer, price, { site, url: `${site.url}${path}`, t }),
    main: html`${heading(offer, t)}
${choicesSection(offer, deps)}
<div class="offer">
<div class="face">${cardFace(offer.brandName, offer.kind)}</div>
${ticket(offer, price, { deps, again })}
${aboutSection(offer, t)}
</div>
${agentSection(offer, price, deps)}`,
  }
}

/** Whether the form has faults or a notice. A form that the buyer reopened to change it has neither. */
function isFaulty(again: FormAgain | undefined): boolean {
  return again !== undefined && (again.faults.size > 0 || again.notice !== undefined)
}

/** The category, the brand in it, and the offer itself. */
function crumbsOf(offer: Offer, t: Texts): Crumb[] {
  const { kind, brandName } = offer
  return [
    { name: t(`kinds.${kind}.title`), path: searchPath({ kind }) },
    { name: brandName, path: searchPath({ kind, brand: brandName }) },
    { name: measure(offer, t) || kindName(offer, t), path: buyPath(offer) },
  ]
}

function heading(offer: Offer, t: Texts): Html {
  return html`${crumbTrail(t('buy.breadcrumb'), t('frame.home'), crumbsOf(offer, t))}
<h1 class="name">${offer.brandName} <span>${measure(offer, t)}</span></h1>
<p class="under">${kindName(offer, t)} · ${placeName(offer, t)}</p>`
}

interface Checkout {
  readonly deps: WebDeps & PayingDeps
  readonly again: FormAgain | undefined
}

function ticket(offer: Offer, price: PriceTexts, { deps, again }: Checkout): Html {
  const { t } = deps
  const minutes = Math.max(1, Math.round(deps.fulfillmentDeadlineSeconds / 60))
  return html`<section class="ticket" aria-labelledby="price">
<div class="stub">
<h2 id="price">${t('buy.price')}</h2>
${priceLines(price, deps)}
${price.type !== 'NOT_SOLD' && otherCoins(deps)}
${
  price.type === 'NOT_SOLD'
    ? html`<p class="stock out"><b>${t('buy.notSold')}</b> ${price.reason}</p>`
    : html`<p class="stock in"><b>${t('buy.available')}</b></p>`
}
</div>
${price.type === 'NOT_SOLD' ? undefined : formOf(offer, { deps, again })}
<dl>
${fact(t('buy.receive'), t(`buy.delivered.${offer.kind}`))}${fact(t('buy.when'), t('buy.whenText', { minutes }))}${fact(t('buy.refund'), `${t(`buy.refundRule.${offer.kind}`)} ${t('buy.refundTail')}`)}${fact(t('buy.accepts'), t('buy.acceptsText'))}</dl>
<p class="people">${t('buy.people', { link: (text) => html`<a href="#agents">${text}</a>` })}</p>
</section>`
}

function otherCoins({ checkout, t }: WebDeps & PayingDeps): Html | undefined {
  const coins = (checkout?.methods ?? []).map(({ coin }) => coin)
  if (coins.length === 0) return undefined
  const list = new Intl.ListFormat(t.language, { type: 'disjunction' }).format(coins)
  return html`<p class="hint">${t('buy.orCoins', { coins: list })}</p>`
}

function priceLines(
  price: PriceTexts,
  { networkName, t }: Pick<WebDeps, 'networkName' | 't'>,
): Html {
  switch (price.type) {
    case 'FIXED':
      return html`<p class="amount">${t('buy.fixed', { usdc: price.usdc, data: (text) => html`<data value="${price.usdc}">${text}</data>` })}</p>
<p class="hint">${t('buy.paidOn', { network: networkName })}</p>`
    case 'RANGE':
      return html`<p class="amount range">${t('buy.range', { least: price.minUsdc, most: price.maxUsdc, to: (text) => html`<i>${text}</i>` })}</p>
<p class="hint">${t('buy.choose', { least: price.minValue, most: price.maxValue, step: price.step })}</p>
<p class="hint">${t('buy.paidOn', { network: networkName })}</p>`
    case 'NOT_SOLD':
      return html`<p class="amount unpriced">${t('buy.noPrice')}</p>`
  }
}

/** The form as it was sent, or an empty one. */
function formOf(offer: Offer, { deps, again }: Checkout): Html {
  const { pricing, t, checkout, payee, site } = deps
  const retail = retailOf(offer, pricing)
  const methods = checkout?.methods ?? []
  const typed = again?.typed ?? untyped(retail, pricing.markupBps, methods)
  return buyForm({
    offer,
    retail,
    fields: formFieldsOf(offer, deps, retail),
    methods,
    takesMail: deps.leaveMail !== undefined,
    typed,
    faults: again?.faults ?? noFaults,
    notice: again?.notice,
    wallet: walletSettings(offer, payee, { seen: typed.seen, store: site.name }),
    rates: deps.rates ?? (() => undefined),
    t,
  })
}

/** One sentence for search engines: what it is, where, and for how much. */
function descriptionOf(offer: Offer, price: PriceTexts, t: Texts): string {
  return `${productName(offer, t)}: ${costOf(price, t)}. ${t(`buy.delivered.${offer.kind}`)}`
}

function costOf(price: PriceTexts, t: Texts): string {
  switch (price.type) {
    case 'FIXED':
      return t('buy.summary', { amount: price.usdc })
    case 'RANGE':
      return t('buy.summary', {
        amount: t('offers.range', { least: price.minUsdc, most: price.maxUsdc }),
      })
    case 'NOT_SOLD':
      return t('offers.notSold')
  }
}

/** The picture for link previews; the page itself does not show it. */
function pictureTag(offer: Offer): Record<string, string> {
  const picture = offer.kind === 'voucher' ? offer.image : undefined
  return picture === undefined ? {} : { 'og:image': picture }
}

function priceTags(price: PriceTexts): Record<string, string> {
  if (price.type === 'NOT_SOLD') return { 'product:availability': 'out of stock' }
  const amount = price.type === 'FIXED' ? price.usd : price.minUsd
  return {
    'product:availability': 'in stock',
    'product:price:amount': amount,
    'product:price:currency': 'USD',
  }
}
