import { maxKept } from '../../checkouts/ledger.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'

/** How buying works, step by step, and what happens when a step goes wrong. */
export function howPage({ site, networkName, texts }: WebDeps): Page {
  const { how } = texts
  const coins = new Intl.ListFormat(texts.offers.numbers).format(site.acceptsCrypto)
  return {
    title: how.title,
    description: how.description,
    path: '/how-it-works',
    crumbs: [{ name: how.title, path: '/how-it-works' }],
    main: html`<div class="prose">
<h1>${how.title}</h1>
<p class="lead">${how.lead}</p>
<ol class="steps">
${how.steps.map(
  ([name, text]) => html`<li><h2>${name}</h2><p>${text}</p></li>
`,
)}</ol>
<section aria-labelledby="ways"><h2 id="ways">${how.ways}</h2>
<h3>${how.wallet(networkName)}</h3><p>${how.walletText}</p>
${coins !== '' && html`<h3>${how.coins(coins)}</h3><p>${how.coinsText}</p>`}</section>
<section aria-labelledby="wrong"><h2 id="wrong">${how.wrong}</h2>
<dl class="cases">
${how.wrongList(formatUsdc(maxKept)).map(
  ([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>
`,
)}</dl></section>
${block('goods', how.goods, how.goodsText)}
${block('private', how.private, how.privateText)}
<section aria-labelledby="help"><h2 id="help">${how.help}</h2>
<p>${how.helpText} <a href="mailto:${site.contact}">${site.contact}</a>.</p></section>
</div>`,
  }
}

function block(id: string, heading: string, text: string): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2><p>${text}</p></section>
`
}
