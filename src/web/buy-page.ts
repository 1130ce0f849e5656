import { goods } from '../goods/good.ts'
import type { Offer } from '../goods/offer.ts'
import { retailOf } from '../goods/pricing.ts'
import { buyPath } from './addresses.ts'
import { agentSection } from './agent-section.ts'
import { buyTexts, delivered } from './buy-texts.ts'
import type { WebDeps } from './deps.ts'
import { type Html, html } from './html.ts'
import type { Page } from './layout.ts'
import { type PriceTexts, priceTexts } from './money-text.ts'
import { aboutSection, siblingsSection } from './offer-sections.ts'
import { kindName, measure, placeName, productName } from './offer-words.ts'
import { productData } from './product-data.ts'

/** The page of one offer (decisions 2: `buy_url`). */
export function buyPage(offer: Offer, deps: WebDeps): Page {
  const { site, pricing } = deps
  const price = priceTexts(retailOf(offer, pricing), pricing.markupBps)
  const path = buyPath(offer)
  const title = productName(offer)
  return {
    title,
    description: descriptionOf(offer, price),
    path,
    openGraph: { 'og:type': 'product', ...pictureTag(offer), ...priceTags(price) },
    data: productData(offer, price, { site, url: `${site.url}${path}` }),
    main: html`${heading(offer)}
<div class="offer">
${face(offer)}
${ticket(offer, price, deps)}
${aboutSection(offer)}
</div>
${agentSection(offer, price, deps)}
${siblingsSection(offer, deps)}`,
  }
}

/** The picture that the page of this offer shows from elsewhere, if it shows one. */
export function pictureOf(offer: Offer): string | undefined {
  return offer.kind === 'voucher' ? offer.image : undefined
}

function heading(offer: Offer): Html {
  return html`<nav class="crumbs" aria-label="${buyTexts.breadcrumb}"><ol>
<li><a href="/">${buyTexts.home}</a></li>
<li><a href="/#${goods[offer.kind].plural}">${buyTexts.shelves[offer.kind]}</a></li>
<li>${offer.brandName}</li>
</ol></nav>
<h1 class="name">${offer.brandName} <span>${measure(offer)}</span></h1>
<p class="under">${kindName(offer)} · ${placeName(offer)}</p>`
}

/** The picture of the card, or one that is drawn from what is known. */
function face(offer: Offer): Html {
  const picture = pictureOf(offer)
  if (picture !== undefined) {
    return html`<img class="face" src="${picture}" alt="${buyTexts.picture(offer.brandName)}" width="480" height="300">`
  }
  return html`<div class="face drawn ${offer.kind}" aria-hidden="true">
<small>${kindName(offer)}</small>
<b>${offer.brandName}</b>
<em>${measure(offer)}</em>
</div>`
}

function ticket(offer: Offer, price: PriceTexts, deps: WebDeps): Html {
  const isSold = price.type !== 'NOT_SOLD'
  const minutes = Math.max(1, Math.round(deps.fulfillmentDeadlineSeconds / 60))
  return html`<section class="ticket" aria-labelledby="price">
<div class="stub">
<h2 id="price">${buyTexts.price}</h2>
${priceLines(price, deps.networkName)}
${
  price.type === 'NOT_SOLD'
    ? html`<p class="stock out"><b>${buyTexts.notSold}</b> ${price.reason}</p>`
    : html`<p class="stock in"><b>${buyTexts.available}</b></p>`
}
</div>
<dl>
${entry(buyTexts.receive, delivered[offer.kind])}
${entry(buyTexts.when, buyTexts.whenText(minutes))}
${entry(buyTexts.refund, `${goods[offer.kind].refundRule} ${buyTexts.refundTail}`)}
${entry(buyTexts.accepts, buyTexts.acceptsText)}
</dl>
<p class="people"><b>${buyTexts.people}</b> ${isSold ? buyTexts.peopleNow : buyTexts.peopleNot} <a href="#agents">${buyTexts.peopleLink}</a>.</p>
</section>`
}

function priceLines(price: PriceTexts, networkName: string): Html {
  switch (price.type) {
    case 'FIXED':
      return html`<p class="amount"><data value="${price.usdc}">${price.usdc}</data> ${buyTexts.currency}</p>
<p class="hint">${buyTexts.paidOn(networkName)}</p>`
    case 'RANGE':
      return html`<p class="amount range">${price.minUsdc}<i> ${buyTexts.to} </i>${price.maxUsdc} ${buyTexts.currency}</p>
<p class="hint">${buyTexts.choose(price.minValue, price.maxValue, price.step)}</p>
<p class="hint">${buyTexts.paidOn(networkName)}</p>`
    case 'NOT_SOLD':
      return html`<p class="amount none">${buyTexts.noPrice}</p>`
  }
}

function entry(name: string, value: string): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** One sentence for search engines: what it is, where, and for how much. */
function descriptionOf(offer: Offer, price: PriceTexts): string {
  return `${productName(offer)}: ${costOf(price)}. ${delivered[offer.kind]}`
}

function costOf(price: PriceTexts): string {
  switch (price.type) {
    case 'FIXED':
      return buyTexts.summary(price.usdc)
    case 'RANGE':
      return buyTexts.summary(`${price.minUsdc} ${buyTexts.to} ${price.maxUsdc}`)
    case 'NOT_SOLD':
      return buyTexts.notSold.toLowerCase()
  }
}

function pictureTag(offer: Offer): Record<string, string> {
  const picture = pictureOf(offer)
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
