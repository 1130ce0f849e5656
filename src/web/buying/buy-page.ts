import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { type Crumb, crumbTrail, type Page } from '../frame/layout.ts'
import { buyPath } from '../shop/addresses.ts'
import { cardFace } from '../shop/card-face.ts'
import { type PriceTexts, priceTexts } from '../shop/money-text.ts'
import { kindName, measure, placeName, productName } from '../shop/offer-words.ts'
import { searchPath } from '../shop/search-address.ts'
import type { Texts } from '../texts/texts.ts'
import { agentSection } from './agent-section.ts'
import { buyForm } from './buy-form.ts'
import { choicesSection } from './choices.ts'
import type { PayingDeps } from './deps.ts'
import { noFaults } from './faults.ts'
import { formFieldsOf } from './form-fields.ts'
import { aboutSection } from './offer-sections.ts'
import { productData } from './product-data.ts'
import type { FormAgain } from './starting.ts'
import { untyped } from './typed.ts'
import { walletSettings } from './wallet-panel.ts'

/** The form of the page: how it came back, if it was sent, and what pays from a wallet. */
export interface FormShown {
  readonly scriptUrls: readonly string[]
  readonly again?: FormAgain | undefined
}

/** The page of one offer, where its `buy_url` leads. */
export function buyPage(offer: Offer, deps: WebDeps & PayingDeps, form: FormShown): Page {
  const { site, pricing, t } = deps
  const price = priceTexts(retailOf(offer, pricing), t)
  const path = buyPath(offer)
  const name = productName(offer, t)
  return {
    title: isFaulty(form) ? `${t('form.errorPrefix')}${name}` : name,
    description: descriptionOf(offer, price, t),
    path,
    openGraph: { 'og:type': 'product', ...pictureTag(offer), ...priceTags(price) },
    crumbs: crumbsOf(offer, t),
    data: productData(offer, price, { site, url: `${site.url}${path}`, t }),
    main: html`${heading(offer, t)}
${choicesSection(offer, deps)}
<div class="offer">
<div class="face">${cardFace(offer.brandName, offer.kind)}</div>
${ticket(offer, price, { deps, form })}
${aboutSection(offer, t)}
</div>
${agentSection(offer, price, deps)}`,
  }
}

/** Whether something has to be looked at again: a form that is only changed has no fault. */
function isFaulty({ again }: FormShown): boolean {
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
  readonly form: FormShown
}

function ticket(offer: Offer, price: PriceTexts, { deps, form }: Checkout): Html {
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
${price.type === 'NOT_SOLD' ? undefined : formOf(offer, { deps, form })}
<dl>
${entry(t('buy.receive'), t(`buy.delivered.${offer.kind}`))}
${entry(t('buy.when'), t('buy.whenText', { minutes }))}
${entry(t('buy.refund'), `${t(`buy.refundRule.${offer.kind}`)} ${t('buy.refundTail')}`)}
${entry(t('buy.accepts'), t('buy.acceptsText'))}
</dl>
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
      return html`<p class="amount none">${t('buy.noPrice')}</p>`
  }
}

function entry(name: string, value: string): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** The form as it was sent, or one that nobody has typed into yet. */
function formOf(offer: Offer, { deps, form: { again, scriptUrls } }: Checkout): Html {
  const { pricing, t, checkout, payee, site } = deps
  const retail = retailOf(offer, pricing)
  const methods = checkout?.methods ?? []
  const typed = again?.typed ?? untyped(retail, pricing.markupBps, methods)
  return html`${buyForm({
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
  })}
${scriptUrls.map(
  (url) => html`<script type="module" src="${url}"></script>
`,
)}`
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

/** For previews elsewhere; the page itself does not show it. */
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
