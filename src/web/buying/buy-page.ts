import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CheckoutService } from '../../api/checkout.ts'
import type { Site } from '../../api/deps.ts'
import type { Coverage } from '../../catalog/kinds/esim.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { takeFrom } from '../../http/gate.ts'
import { clientKeyOf, type Limits, type RateLimiter } from '../../http/rate-limit.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import {
  type Crumb,
  crumbTrail,
  document,
  type Frame,
  type Page,
  pageHeaders,
} from '../frame/layout.ts'
import { fact } from '../frame/parts.ts'
import { messagePage, withRetryAfter } from '../frame/senders.ts'
import { buyPath, payPath, recordPath, searchPath } from '../paths.ts'
import { moneyText, type PriceTexts, priceTexts } from '../shop/money-text.ts'
import {
  allowanceFacts,
  type Fact,
  kindName,
  measure,
  placeName,
  productName,
} from '../shop/offer-words.ts'
import { countryName } from '../texts/countries.ts'
import { type Texts, type TitledName, titled } from '../texts/texts.ts'
import { formIn, isFromElsewhere, rememberOrder } from '../visitor.ts'
import { buyForm } from './buy-form.ts'
import { choicesSection } from './choices.ts'
import { formFieldsOf, noFaults, untyped } from './form.ts'
import { type FormAgain, type PayingDeps, startFrom } from './starting.ts'
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

export function routeBuying(pages: FastifyInstance, routes: BuyRoutes): void {
  const config = { limit: 'reading' } as const
  pages.get('/buy/:offerId', { config }, (request: OfferRequest, reply) => {
    const { ids } = routes.deps.liveCatalog.current()
    const { offerId } = request.params
    const meant = ids.find(offerId) === undefined ? ids.findLike(offerId) : undefined
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
  const offer = deps.liveCatalog.current().ids.find(params.offerId)
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
      checkouts.start({ ...form, client }, async () => {
        const refusal = await takeFrom(limiter, request, reply)
        if (refusal) throw refusal
      }),
  }
}

/**
 * The page of one offer, where its `buy_url` leads.
 *
 * @param again the form as it was sent, if it was
 */
function buyPage(offer: Offer, deps: WebDeps & PayingDeps, again?: FormAgain): Page {
  const { site, pricing, t } = deps
  const price = priceTexts(retailOf(offer, pricing), t)
  const path = buyPath(offer)
  const name = productName(offer, t)
  return {
    title: isFaulty(again) ? `${t('form.errorPrefix')}${name}` : name,
    description: descriptionOf(offer, price, t),
    path,
    openGraph: {
      'og:type': 'product',
      ...(offer.kind === 'voucher' && offer.image ? { 'og:image': offer.image } : {}),
    },
    crumbs: crumbsOf(offer, t),
    scripts: price.type === 'NOT_SOLD' ? [] : ['typed.js', 'wallet.js'],
    // Wallets announce their icons as data URLs.
    drawsPictures: true,
    data: productData(offer, price, { site, url: `${site.url}${path}`, t }),
    main: html`${heading(offer, t)}
${choicesSection(offer, deps)}
<div class="offer">
${ticket(offer, price, { deps, again })}
${aboutSection(offer, t)}
</div>
${agents(offer, t)}`,
  }
}

/** Whether the form has faults or a notice. A form that the buyer reopened to change it has neither. */
function isFaulty(again: FormAgain | undefined): boolean {
  return again !== undefined && (again.faults.size > 0 || again.notice !== undefined)
}

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

function agents(offer: Offer, t: Texts): Html {
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${t('buy.agents')}</h2>
<p>${t('buy.agentsLead', { skill: (text) => html`<a href="/SKILL.md">${text}</a>`, record: (text) => html`<a href="${recordPath(offer)}">${text}</a>` })}</p>
</section>`
}

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

const countriesShown = 12

function aboutSection(offer: Offer, t: Texts): Html {
  return html`<section class="about" aria-labelledby="facts">
<h2 id="facts">${t('buy.facts')}</h2>
${offer.shortNotes && html`<p class="short" dir="auto">${offer.shortNotes}</p>`}
<dl class="facts">
${factsOf(offer, t).map(({ name, value }) => fact(name, value))}</dl>
${offer.kind === 'esim' && offer.coverage.length > 1 && coverageList(offer.coverage, t)}
${textBlock(t('buy.notes'), offer.notes)}
${offer.kind === 'voucher' && textBlock(t('buy.redeem'), offer.redemptionInstructions)}
${offer.kind === 'voucher' && textBlock(t('buy.description'), offer.description)}
</section>`
}

function factsOf(offer: Offer, t: Texts): Fact[] {
  const makerNames = {
    voucher: t('buy.factNames.brand'),
    topup: t('buy.factNames.operator'),
    esim: t('buy.factNames.provider'),
  }
  const facts: (Fact | undefined)[] = [
    { name: t('buy.factNames.kind'), value: kindName(offer, t) },
    { name: makerNames[offer.kind], value: offer.brandName },
    valueFact(offer, t),
    ...(offer.kind === 'voucher' ? [] : allowanceFacts(offer.allowance, t)),
    {
      name: offer.kind === 'esim' ? t('buy.factNames.worksIn') : t('buy.factNames.country'),
      value: placeName(offer, t),
    },
    listFact(t('buy.factNames.regions'), offer.regions),
    offer.kind === 'topup'
      ? undefined
      : listFact(
          offer.kind === 'esim' ? t('buy.factNames.tier') : t('buy.factNames.category'),
          offer.subTypes,
        ),
    offer.kind === 'esim'
      ? listFact(t('buy.factNames.speeds'), speedsOf(offer.coverage))
      : undefined,
    { name: t('buy.factNames.id'), value: offer.id },
  ]
  return facts.filter((fact) => fact !== undefined)
}

function valueFact(offer: Offer, t: Texts): Fact | undefined {
  if (offer.kind === 'esim') return undefined
  const value = moneyText(offer.faceValue ?? offer.price, t)
  if (offer.kind === 'topup') {
    return offer.faceValue === undefined ? undefined : { name: t('buy.factNames.credited'), value }
  }
  return {
    name: offer.price.type === 'RANGE' ? t('buy.factNames.values') : t('buy.factNames.value'),
    value,
  }
}

function listFact(name: string, values: readonly string[]): Fact | undefined {
  return values.length === 0 ? undefined : { name, value: values.join(', ') }
}

function speedsOf(coverage: readonly Coverage[]): string[] {
  return [...new Set(coverage.flatMap(({ speeds }) => speeds))].sort()
}

function coverageList(coverage: readonly Coverage[], t: Texts): Html {
  const named = coverage
    .map(({ country, speeds }) => ({ name: countryName(country, t), speeds: speeds.join(', ') }))
    .sort((one, other) => one.name.localeCompare(other.name, t.language))
  const list = html`<ul class="coverage">
${named.map(
  ({ name, speeds }) => html`<li>${name} <small>${speeds}</small></li>
`,
)}</ul>`
  const isLong = named.length > countriesShown
  return html`<h3>${t('buy.coverage')}</h3>
${
  isLong
    ? html`<details><summary>${t('buy.coverageAll', { count: named.length })}</summary>${list}</details>`
    : list
}`
}

/** A text as the supplier sent it: blank lines separate paragraphs, and line breaks are kept. */
function textBlock(title: string, text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim() !== '')
  return html`<h3>${title}</h3>
${paragraphs.map(
  (part) => html`<p class="said" dir="auto">${part}</p>
`,
)}`
}

function productData(
  offer: Offer,
  price: PriceTexts,
  { site, url, t }: { readonly site: Site; readonly url: string; readonly t: Texts },
): object {
  const { notes, shortNotes } = offer
  const about = offer.kind === 'voucher' ? offer.description : undefined
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    '@id': `${url}#product`,
    url,
    name: productName(offer, t),
    description: shortNotes ?? notes ?? about ?? productName(offer, t),
    sku: offer.id,
    category: [kindName(offer, t), ...offer.subTypes].join(' > '),
    brand: { '@type': 'Brand', name: offer.brandName },
    image: offer.kind === 'voucher' ? offer.image : undefined,
    offers: {
      ...priceFields(price),
      url,
      availability: `https://schema.org/${price.type === 'NOT_SOLD' ? 'OutOfStock' : 'InStock'}`,
      areaServed: countriesOf(offer).map((code) => ({
        '@type': 'Country',
        name: countryName(code, t),
        identifier: code,
      })),
      seller: { '@type': 'Organization', name: site.name, url: site.url, email: site.contact },
    },
  }
}

/** An open value has no single price but bounds, which only an AggregateOffer can carry. */
function priceFields(price: PriceTexts): object {
  switch (price.type) {
    case 'FIXED':
      return { '@type': 'Offer', price: price.usd, priceCurrency: 'USD' }
    case 'RANGE':
      return {
        '@type': 'AggregateOffer',
        lowPrice: price.minUsd,
        highPrice: price.maxUsd,
        price: price.minUsd,
        priceCurrency: 'USD',
      }
    case 'NOT_SOLD':
      return { '@type': 'Offer' }
  }
}

function countriesOf(offer: Offer): readonly string[] {
  if (offer.country !== undefined) return [offer.country]
  return offer.kind === 'esim' ? offer.coverage.map(({ country }) => country) : []
}
