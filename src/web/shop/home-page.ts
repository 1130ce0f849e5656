import { paymentsTaken } from '../../api/operation.ts'
import { countriesIn } from '../../api/shop/shop-search.ts'
import { featuredIn } from '../../catalog/catalog.ts'
import { goods } from '../../catalog/kinds.ts'
import { type Kind, kinds, type Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { buyPath, searchPath } from '../paths.ts'
import { type Texts, type TitledName, titled } from '../texts/texts.ts'
import { brandGrid } from './card-face.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { kindName, measure, placeName } from './offer-words.ts'
import { searchForm } from './search-form.ts'
import { offerCards } from './search-page.ts'

const maxSamples = 3
const maxBrands = 12

export function homePage(deps: WebDeps): Page {
  const { site, t } = deps
  return {
    title: site.name,
    description: site.description,
    path: '/',
    main: html`<section class="hero">
<h1>${t('home.claim')}</h1>
<p>${t('home.lead')}</p>
${searchForm({ query: {} }, countriesIn(deps.liveCatalog.current().sold), t)}
</section>
${featured(deps)}
${brands(deps)}
<section id="catalog" aria-labelledby="catalog-title">
<h2 id="catalog-title">${t('home.kinds')}</h2>
<div class="kinds">
${kinds.map((kind) => kindCard(kind, deps))}
</div>
</section>
${paying(deps)}
<section class="promises" aria-labelledby="promises-title">
<h2 id="promises-title">${t('home.promises.heading')}</h2>
<ul>
${listed(['home.promises.once', 'home.promises.refund', 'home.promises.price'], t)}</ul>
</section>
${homeAgents(deps)}`,
  }
}

/** What the operator has chosen to show first. */
function featured(deps: WebDeps): Html | undefined {
  const { liveCatalog, pricing } = deps
  const offers = featuredIn(liveCatalog.current(), pricing.rules()).filter(
    (offer) => retailOf(offer, pricing).type !== 'NOT_SOLD',
  )
  if (offers.length === 0) return undefined
  return html`<section aria-labelledby="featured-title">
<h2 id="featured-title">${deps.t('home.featured')}</h2>
<ul class="offer-list">
${offerCards(offers, deps)}</ul>
</section>`
}

function brands({ liveCatalog, t }: WebDeps): Html | undefined {
  const index = liveCatalog.current().sold.voucher
  const most = index
    .counts('brandName')
    .slice(0, maxBrands)
    .map(([value, offers]) => ({ value, offers }))
  if (most.length === 0) return undefined
  return html`<section aria-labelledby="brands-title">
<div class="section-head"><h2 id="brands-title">${t('home.brands')}</h2> <a href="/search?kind=voucher">${t('home.brandsAll')}</a></div>
${brandGrid(most, t, (brand) => searchPath({ kind: 'voucher', brand }))}
</section>`
}

function kindCard(kind: Kind, { liveCatalog, pricing, t }: WebDeps): Html {
  const { title, text } = titled(t, `kinds.${kind}`)
  const index = liveCatalog.current().sold[kind]
  const count = index.size
  return html`<article class="kind ${kind}" id="${goods[kind].plural}">
<h3>${title}</h3>
<p>${text}</p>
<ul class="samples">
${samplesOf(index).map((offer) => {
  const price = priceTexts(retailOf(offer, pricing), t)
  return html`<li><a href="${buyPath(offer)}"><b>${offer.brandName}</b> <span>${sampleText(offer, t)}</span> <em>${shortPrice(price, t)}</em></a></li>
`
})}</ul>
<p class="all"><a class="button quiet" href="${searchPath({ kind })}">${t('home.kindAll', { count })}<span class="hidden">: ${title}</span></a></p>
</article>
`
}

/** One offer of each of the brands that have the most: the one in the middle of its brand. */
function samplesOf(index: SearchIndex): Offer[] {
  const most = index.counts('brand').slice(0, maxSamples)
  return most.flatMap(
    ([brand, offers]) =>
      index.search({ brandKeys: [brand] }, { offset: offers >> 1, limit: 1 }).offers,
  )
}

function sampleText(offer: Offer, t: Texts): string {
  const what = offer.price.type === 'RANGE' ? t('home.anyValue') : measure(offer, t)
  return `${what || kindName(offer, t)}, ${placeName(offer, t)}`
}

function paying({ site, pricing, networkName, t }: WebDeps): Html {
  const { coins, takesUsdc } = paymentsTaken({ site, pricing })
  const ways = [...(takesUsdc ? [t('home.payUsdc', { network: networkName })] : []), ...coins]
  return html`<section aria-labelledby="paying-title">
<h2 id="paying-title">${t('home.paying.heading')}</h2>
<ol class="steps three">
${listed(['home.steps.choose', 'home.steps.pay', 'home.steps.keep'], t)}</ol>
<div class="ways-to-pay"><p id="ways-to-pay">${t('home.payWith')}</p>
<ul class="coins" aria-labelledby="ways-to-pay">${ways.map((way) => html`<li>${way}</li>`)}</ul>
<p><a href="/how-it-works">${t('home.more')}</a></p></div>
</section>`
}

function listed(names: readonly TitledName[], t: Texts): Html[] {
  return names.map((name) => {
    const { title, text } = titled(t, name)
    return html`<li><h3>${title}</h3><p>${text}</p></li>
`
  })
}

function homeAgents({ site, isSandbox, t }: WebDeps): Html {
  const find = `${site.url}/ai/search?query=esim+japan+10+GB`
  const lists = kinds.map(
    (kind) => html`<a href="/ai/${goods[kind].plural}">${t(`kinds.${kind}.title`)}</a> `,
  )
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${t('home.agents')}</h2>
<p>${t('home.agentsLead')}</p>
<pre><code>curl '${find}'</code></pre>
<p>${t('home.asJson')} ${lists}</p>
<p>${t('home.manifest', { link: (path) => html`<a href="/.well-known/x402">${path}</a>` })}</p>
<p class="note">${t('home.spendLimit')}</p>
${isSandbox && html`<p>${t('home.demo')} <code>npm run demo</code></p>`}
<p>${t('home.errors', { link: (text) => html`<a href="/errors">${text}</a>` })}</p>
</section>`
}
