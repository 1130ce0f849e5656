import { goods, kinds } from '../../goods/good.ts'
import type { Kind, Offer } from '../../goods/offer.ts'
import { retailOf } from '../../goods/pricing.ts'
import { docsWith } from '../../goods/search/column.ts'
import { mostOffered } from '../../goods/search/nearest.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import { code } from '../buying/agent-section.ts'
import { quoted } from '../buying/example-call.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/en.ts'
import { buyPath } from './addresses.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { kindName, measure, placeName } from './offer-words.ts'

const samplesShown = 4

/** The front page: what the store is, what it has, and how software uses it. */
export function homePage(deps: WebDeps): Page {
  const { site, texts } = deps
  const { home } = texts
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
<h1>${home.claim}</h1>
<p>${home.lead(deps.networkName)}</p>
<p class="act"><a class="button" href="#agents">${home.how}</a> <a href="#catalog">${home.what}</a></p>
</div>
${conversation(texts)}
</section>
<section id="catalog" aria-labelledby="catalog-title">
<h2 id="catalog-title">${home.catalog}</h2>
<div class="kinds">
${kinds.map((kind) => kindCard(kind, deps))}
</div>
</section>
<section class="promises" aria-labelledby="promises-title">
<h2 id="promises-title">${home.promises}</h2>
<ul>
${home.promiseList.map(
  ([name, text]) => html`<li><h3>${name}</h3><p>${text}</p></li>
`,
)}</ul>
</section>
${agents(deps)}
<section aria-labelledby="people-title">
<h2 id="people-title">${home.people}</h2>
<p>${home.peopleText}</p>
<p>${home.contact} <a href="mailto:${site.contact}">${site.contact}</a>.</p>
</section>`,
  }
}

function kindCard(kind: Kind, { shelf, pricing, texts }: WebDeps): Html {
  const { home } = texts
  const { plural } = goods[kind]
  const { name, text, searches } = texts.homeKinds[kind]
  const index = shelf.current().sold[kind]
  return html`<article class="kind ${kind}" id="${plural}">
<h3>${name} <small>${home.count(index.size)}</small></h3>
<p>${text}</p>
<ul class="samples">
${samplesOf(index).map((offer) => {
  const price = priceTexts(retailOf(offer, pricing), { ...pricing, texts })
  return html`<li><a href="${buyPath(offer)}"><b>${offer.brandName}</b> <span>${sampleText(offer, texts)}</span> <em>${shortPrice(price, texts)}</em></a></li>
`
})}</ul>
<p class="searches">${home.asJson} ${searches.map(
    ([label, query]) => html`<a href="/ai/${plural}?${query}">${label}</a>, `,
  )}<a href="/ai/${plural}">${home.all}</a></p>
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
function sampleText(offer: Offer, texts: Texts): string {
  const what = offer.price.type === 'RANGE' ? texts.home.anyValue : measure(offer, texts)
  return `${what || kindName(offer, texts)}, ${placeName(offer, texts)}`
}

/** A purchase in four lines, as a picture of what the store is. */
function conversation({ home }: Texts): Html {
  return html`<div class="ticket talk">
<p class="stub">${home.talk}</p>
<ol>
${home.talkLines.map(
  ([
    who,
    what,
    detail,
  ]) => html`<li${who === home.talkStore && html` class="store-says"`}><b>${who}</b> <span><code>${what}</code><br>${detail}</span></li>
`,
)}</ol>
</div>`
}

function agents({ site, isSandbox, texts: { home } }: WebDeps): Html {
  const find = `${site.url}/ai/vouchers?search=amazon&country=US`
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${home.agents}</h2>
<p>${home.agentsLead}</p>
<ol class="steps">
<li><h3>${home.stepFind}</h3><p>${home.stepFindText}</p>
${code(`curl ${quoted(find)}`)}</li>
<li><h3>${home.stepRead}</h3><p>${home.stepReadText} <a href="/.well-known/x402">/.well-known/x402</a></p>
${code(`curl ${quoted(`${site.url}/.well-known/x402`)}`)}</li>
<li><h3>${home.stepBuy}</h3><p>${home.stepBuyText}</p>
<p class="note">${home.spendLimit}</p></li>
${isSandbox && html`<li><h3>${home.stepTry}</h3><p>${home.stepTryText}</p>${code('npm run demo')}</li>`}
</ol>
<p>${home.errors} <a href="/errors">${home.errorsLink}</a>.</p>
</section>`
}
