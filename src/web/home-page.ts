import { goods, kinds } from '../goods/good.ts'
import type { Kind, Offer } from '../goods/offer.ts'
import { retailOf } from '../goods/pricing.ts'
import { docsWith } from '../goods/search/column.ts'
import { mostOffered } from '../goods/search/nearest.ts'
import type { SearchIndex } from '../goods/search/search-index.ts'
import { buyPath } from './addresses.ts'
import { code } from './agent-section.ts'
import type { WebDeps } from './deps.ts'
import { quoted } from './example-call.ts'
import { homeTexts, kindTexts } from './home-texts.ts'
import { type Html, html } from './html.ts'
import type { Page } from './layout.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { kindName, measure, placeName } from './offer-words.ts'

const samplesShown = 4

/** The front page: what the store is, what it has, and how software uses it. */
export function homePage(deps: WebDeps): Page {
  const { site } = deps
  return {
    title: site.name,
    description: site.description,
    path: '/',
    data: {
      '@context': 'https://schema.org',
      '@type': 'WebSite',
      name: site.name,
      url: site.url,
      description: site.description,
    },
    main: html`<section class="hero">
<div>
<h1>${homeTexts.claim}</h1>
<p>${homeTexts.lead(deps.networkName)}</p>
<p class="act"><a class="button" href="#agents">${homeTexts.how}</a> <a href="#catalog">${homeTexts.what}</a></p>
</div>
${conversation()}
</section>
<section id="catalog" aria-labelledby="catalog-title">
<h2 id="catalog-title">${homeTexts.catalog}</h2>
<div class="kinds">
${kinds.map((kind) => kindCard(kind, deps))}
</div>
</section>
<section class="promises" aria-labelledby="promises-title">
<h2 id="promises-title">${homeTexts.promises}</h2>
<ul>
${homeTexts.promiseList.map(
  ([name, text]) => html`<li><h3>${name}</h3><p>${text}</p></li>
`,
)}</ul>
</section>
${agents(deps)}
<section aria-labelledby="people-title">
<h2 id="people-title">${homeTexts.people}</h2>
<p>${homeTexts.peopleText}</p>
<p>${homeTexts.contact} <a href="mailto:${site.contact}">${site.contact}</a>.</p>
</section>`,
  }
}

function kindCard(kind: Kind, { shelf, pricing }: WebDeps): Html {
  const { plural } = goods[kind]
  const { name, text, searches } = kindTexts[kind]
  const index = shelf.current().sold[kind]
  return html`<article class="kind ${kind}" id="${plural}">
<h3>${name} <small>${homeTexts.count(index.size)}</small></h3>
<p>${text}</p>
<ul class="samples">
${samplesOf(index).map((offer) => {
  const price = priceTexts(retailOf(offer, pricing), pricing.markupBps)
  return html`<li><a href="${buyPath(offer)}"><b>${offer.brandName}</b> <span>${sampleText(offer)}</span> <em>${shortPrice(price)}</em></a></li>
`
})}</ul>
<p class="searches">${homeTexts.asJson} ${searches.map(
    ([label, query]) => html`<a href="/ai/${plural}?${query}">${label}</a>, `,
  )}<a href="/ai/${plural}">${homeTexts.all}</a></p>
</article>
`
}

/** One offer of each of the brands that have the most: the one in the middle of its brand. */
function samplesOf(index: SearchIndex): Offer[] {
  const brands = mostOffered(index.brandNames, index.all).slice(0, samplesShown)
  return brands.map((brand) => {
    const docs = docsWith(index.brandNames, brand)
    return index.offerAt(docs[docs.length >> 1] as number)
  })
}

/** What makes one sample differ from another, in a line. */
function sampleText(offer: Offer): string {
  const what = offer.price.type === 'RANGE' ? homeTexts.anyValue : measure(offer)
  return `${what || kindName(offer)}, ${placeName(offer)}`
}

/** A purchase in four lines, as a picture of what the store is. */
function conversation(): Html {
  return html`<div class="ticket talk">
<p class="stub">${homeTexts.talk}</p>
<ol>
${homeTexts.talkLines.map(
  ([
    who,
    what,
    detail,
  ]) => html`<li${who === homeTexts.talkStore && html` class="store-says"`}><b>${who}</b> <span><code>${what}</code><br>${detail}</span></li>
`,
)}</ol>
</div>`
}

function agents({ site, isSandbox }: WebDeps): Html {
  const find = `${site.url}/ai/vouchers?search=amazon&country=US`
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${homeTexts.agents}</h2>
<p>${homeTexts.agentsLead}</p>
<ol class="steps">
<li><h3>${homeTexts.stepFind}</h3><p>${homeTexts.stepFindText}</p>
${code(`curl ${quoted(find)}`)}</li>
<li><h3>${homeTexts.stepRead}</h3><p>${homeTexts.stepReadText} <a href="/.well-known/x402">/.well-known/x402</a></p>
${code(`curl ${quoted(`${site.url}/.well-known/x402`)}`)}</li>
<li><h3>${homeTexts.stepBuy}</h3><p>${homeTexts.stepBuyText}</p>
<p class="note">${homeTexts.spendLimit}</p></li>
${isSandbox && html`<li><h3>${homeTexts.stepTry}</h3><p>${homeTexts.stepTryText}</p>${code('npm run demo')}</li>`}
</ol>
<p>${homeTexts.errors} <a href="/errors">${homeTexts.errorsLink}</a>.</p>
</section>`
}
