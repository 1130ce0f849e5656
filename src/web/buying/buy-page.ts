import { goods } from '../../catalog/good.ts'
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
import type { Texts } from '../texts/en.ts'
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
  const { site, pricing, texts } = deps
  const price = priceTexts(retailOf(offer, pricing), { ...pricing, texts })
  const path = buyPath(offer)
  const name = productName(offer, texts)
  return {
    title: isFaulty(form) ? `${texts.form.errorPrefix}${name}` : name,
    description: descriptionOf(offer, price, texts),
    path,
    openGraph: { 'og:type': 'product', ...pictureTag(offer), ...priceTags(price) },
    crumbs: crumbsOf(offer, texts),
    data: productData(offer, price, { site, url: `${site.url}${path}`, texts }),
    main: html`${heading(offer, texts)}
${choicesSection(offer, deps)}
<div class="offer">
<div class="face">${cardFace(offer.brandName, offer.kind)}</div>
${ticket(offer, price, { deps, form })}
${aboutSection(offer, texts)}
</div>
${agentSection(offer, price, deps)}`,
  }
}

/** Whether something has to be looked at again: a form that is only changed has no fault. */
function isFaulty({ again }: FormShown): boolean {
  return again !== undefined && (again.faults.size > 0 || again.notice !== undefined)
}

/** The category, the brand in it, and the offer itself. */
function crumbsOf(offer: Offer, texts: Texts): Crumb[] {
  const { kind, brandName } = offer
  return [
    { name: texts.homeKinds[kind].name, path: searchPath({ kind }) },
    { name: brandName, path: searchPath({ kind, brand: brandName }) },
    { name: measure(offer, texts) || kindName(offer, texts), path: buyPath(offer) },
  ]
}

function heading(offer: Offer, texts: Texts): Html {
  return html`${crumbTrail(texts.buy.breadcrumb, texts.frame.home, crumbsOf(offer, texts))}
<h1 class="name">${offer.brandName} <span>${measure(offer, texts)}</span></h1>
<p class="under">${kindName(offer, texts)} · ${placeName(offer, texts)}</p>`
}

interface Checkout {
  readonly deps: WebDeps & PayingDeps
  readonly form: FormShown
}

function ticket(offer: Offer, price: PriceTexts, { deps, form }: Checkout): Html {
  const { buy } = deps.texts
  const minutes = Math.max(1, Math.round(deps.fulfillmentDeadlineSeconds / 60))
  return html`<section class="ticket" aria-labelledby="price">
<div class="stub">
<h2 id="price">${buy.price}</h2>
${priceLines(price, deps)}
${price.type !== 'NOT_SOLD' && otherCoins(deps)}
${
  price.type === 'NOT_SOLD'
    ? html`<p class="stock out"><b>${buy.notSold}</b> ${price.reason}</p>`
    : html`<p class="stock in"><b>${buy.available}</b></p>`
}
</div>
${price.type === 'NOT_SOLD' ? undefined : formOf(offer, { deps, form })}
<dl>
${entry(buy.receive, buy.delivered[offer.kind])}
${entry(buy.when, buy.whenText(minutes))}
${entry(buy.refund, `${goods[offer.kind].refundRule} ${buy.refundTail}`)}
${entry(buy.accepts, buy.acceptsText)}
</dl>
<p class="people">${buy.people} <a href="#agents">${buy.peopleLink}</a>.</p>
</section>`
}

function otherCoins({ checkout, texts }: WebDeps & PayingDeps): Html | undefined {
  const coins = (checkout?.methods ?? []).map(({ coin }) => coin)
  if (coins.length === 0) return undefined
  const list = new Intl.ListFormat(texts.frame.language, { type: 'disjunction' }).format(coins)
  return html`<p class="hint">${texts.buy.orCoins(list)}</p>`
}

function priceLines(
  price: PriceTexts,
  { networkName, texts: { buy } }: Pick<WebDeps, 'networkName' | 'texts'>,
): Html {
  switch (price.type) {
    case 'FIXED':
      return html`<p class="amount"><data value="${price.usdc}">${price.usdc}</data> ${buy.currency}</p>
<p class="hint">${buy.paidOn(networkName)}</p>`
    case 'RANGE':
      return html`<p class="amount range">${price.minUsdc}<i> ${buy.to} </i>${price.maxUsdc} ${buy.currency}</p>
<p class="hint">${buy.choose(price.minValue, price.maxValue, price.step)}</p>
<p class="hint">${buy.paidOn(networkName)}</p>`
    case 'NOT_SOLD':
      return html`<p class="amount none">${buy.noPrice}</p>`
  }
}

function entry(name: string, value: string): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** The form as it was sent, or one that nobody has typed into yet. */
function formOf(offer: Offer, { deps, form: { again, scriptUrls } }: Checkout): Html {
  const { pricing, texts, checkout, payee, site } = deps
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
    texts,
  })}
${scriptUrls.map(
  (url) => html`<script type="module" src="${url}"></script>
`,
)}`
}

/** One sentence for search engines: what it is, where, and for how much. */
function descriptionOf(offer: Offer, price: PriceTexts, texts: Texts): string {
  return `${productName(offer, texts)}: ${costOf(price, texts)}. ${texts.buy.delivered[offer.kind]}`
}

function costOf(price: PriceTexts, { buy }: Texts): string {
  switch (price.type) {
    case 'FIXED':
      return buy.summary(price.usdc)
    case 'RANGE':
      return buy.summary(`${price.minUsdc} ${buy.to} ${price.maxUsdc}`)
    case 'NOT_SOLD':
      return buy.notSold.toLowerCase()
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
