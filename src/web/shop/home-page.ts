import { countriesIn } from '../../api/shop/shop-query.ts'
import { goods, kinds } from '../../catalog/good.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { countsAmong, docsWith } from '../../catalog/search/column.ts'
import { mostOffered } from '../../catalog/search/nearest.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/en.ts'
import { buyPath } from './addresses.ts'
import { brandGrid } from './brand-grid.ts'
import { homeAgents } from './home-agents.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { kindName, measure, placeName } from './offer-words.ts'
import { searchPath } from './search-address.ts'
import { searchForm } from './search-form.ts'

const samplesShown = 3
const brandsShown = 12

/** The front page: a search, what there is, how it is paid, and how software uses it. */
export function homePage(deps: WebDeps): Page {
  const { site, texts } = deps
  return {
    title: site.name,
    description: site.description,
    path: '/',
    data: siteData(deps),
    main: html`<section class="hero">
<h1>${texts.home.claim}</h1>
<p>${texts.home.lead}</p>
${searchForm({ query: {}, kind: 'voucher', choosesKind: true, countries: countriesIn(deps.liveCatalog.current().sold) }, texts)}
</section>
${brands(deps)}
<section id="catalog" aria-labelledby="catalog-title">
<h2 id="catalog-title">${texts.home.kinds}</h2>
<div class="kinds">
${kinds.map((kind) => kindCard(kind, deps))}
</div>
</section>
${paying(deps)}
${titled('promises', texts.home.promises, texts.home.promiseList)}
${homeAgents(deps)}`,
  }
}

/** The store in the words of schema.org, with its search. */
function siteData({ site }: WebDeps): object {
  return {
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    name: site.name,
    url: site.url,
    description: site.description,
    potentialAction: {
      '@type': 'SearchAction',
      target: { '@type': 'EntryPoint', urlTemplate: `${site.url}/search?q={search_term_string}` },
      'query-input': 'required name=search_term_string',
    },
  }
}

function brands({ liveCatalog, texts }: WebDeps): Html | undefined {
  const index = liveCatalog.current().sold.voucher
  const most = countsAmong(index.brandNames, index.all)
    .slice(0, brandsShown)
    .map(([value, offers]) => ({ value, offers }))
  if (most.length === 0) return undefined
  return html`<section aria-labelledby="brands-title">
<div class="section-head"><h2 id="brands-title">${texts.home.brands}</h2> <a href="/search?kind=voucher">${texts.home.brandsAll}</a></div>
${brandGrid(most, texts, (brand) => ({ path: searchPath({ kind: 'voucher', brand }), kind: 'voucher' }))}
</section>`
}

function kindCard(kind: Kind, { liveCatalog, pricing, texts }: WebDeps): Html {
  const { home } = texts
  const { name, text } = texts.homeKinds[kind]
  const index = liveCatalog.current().sold[kind]
  const count = home.count(index.size)
  return html`<article class="kind ${kind}" id="${goods[kind].plural}">
<h3>${name}</h3>
<p>${text}</p>
<ul class="samples">
${samplesOf(index).map((offer) => {
  const price = priceTexts(retailOf(offer, pricing), { ...pricing, texts })
  return html`<li><a href="${buyPath(offer)}"><b>${offer.brandName}</b> <span>${sampleText(offer, texts)}</span> <em>${shortPrice(price, texts)}</em></a></li>
`
})}</ul>
<p class="all"><a class="button quiet" href="${searchPath({ kind })}">${home.kindAll(count)}<span class="hidden">: ${name}</span></a></p>
</article>
`
}

/** One offer of each of the brands that have the most: the one in the middle of its brand. */
function samplesOf(index: SearchIndex): Offer[] {
  const most = mostOffered(index.brandNames, index.all).slice(0, samplesShown)
  return most.map((brand) => {
    const docs = docsWith(index.brandNames, brand)
    return index.offerAt(docs[docs.length >> 1] as number)
  })
}

/** What makes one sample differ from another, in a line. */
function sampleText(offer: Offer, texts: Texts): string {
  const what = offer.price.type === 'RANGE' ? texts.home.anyValue : measure(offer, texts)
  return `${what || kindName(offer, texts)}, ${placeName(offer, texts)}`
}

function paying({ site, networkName, texts: { home } }: WebDeps): Html {
  const ways = [home.payUsdc(networkName), ...site.acceptsCrypto]
  return html`<section aria-labelledby="paying-title">
<h2 id="paying-title">${home.paying}</h2>
<ol class="three">
${home.payingSteps.map(
  ([name, text]) => html`<li><h3>${name}</h3><p>${text}</p></li>
`,
)}</ol>
<div class="ways-to-pay"><p id="ways-to-pay">${home.payWith}</p>
<ul class="coins" aria-labelledby="ways-to-pay">${ways.map((way) => html`<li>${way}</li>`)}</ul>
<p><a href="/how-it-works">${home.more}</a></p></div>
</section>`
}

function titled(
  name: string,
  heading: string,
  list: readonly (readonly [heading: string, text: string])[],
): Html {
  return html`<section class="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${heading}</h2>
<ul>
${list.map(
  ([title, text]) => html`<li><h3>${title}</h3><p>${text}</p></li>
`,
)}</ul>
</section>`
}
