import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { requiredFieldsOf } from '../../catalog/purchase-body.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { recordPath } from '../shop/addresses.ts'
import type { PriceTexts } from '../shop/money-text.ts'
import type { Texts } from '../texts/en.ts'
import { exampleCall } from './example-call.ts'

/** How software buys this offer: the calls as they are, and what often goes wrong. */
export function agentSection(
  offer: Offer,
  price: PriceTexts,
  {
    site,
    pricing,
    networkName,
    texts,
  }: Pick<WebDeps, 'site' | 'pricing' | 'networkName' | 'texts'>,
): Html {
  const { buy } = texts
  const call = exampleCall(offer, retailOf(offer, pricing), site.url)
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${buy.agents}</h2>
<p>${buy.agentsLead}${price.type === 'NOT_SOLD' && html` ${buy.agentsNotSold}`}</p>
<ol class="steps">
<li>
<h3>${buy.stepQuote}</h3>
<p>${buy.stepQuoteText} ${buy.placeholders}</p>
${code(call.quote)}
</li>
<li>
<h3>${buy.stepPost}</h3>
<p>${buy.stepPostText}</p>
${code(call.purchase)}
${fieldList(offer, texts)}
</li>
<li>
<h3>${buy.stepPay}</h3>
<p>${buy.stepPayText(networkName)}</p>
<p class="note">${spendLimitNote(price, texts)}</p>
</li>
</ol>
<p><a href="${recordPath(offer)}">${buy.record}</a></p>
</section>`
}

/** A command to copy. */
export function code(text: string): Html {
  return html`<pre><code>${text}</code></pre>`
}

function fieldList(offer: Offer, { buy }: Texts): Html {
  const { fieldTexts } = buy
  const names = ['offerId', ...requiredFieldsOf(offer)]
  const fields = names.map((name) => [name, fieldTexts[name] ?? ''] as const)
  const optional = offer.kind === 'esim' ? [['iccid', fieldTexts['iccid'] ?? ''] as const] : []
  return html`<h4>${buy.fields}</h4>
<dl class="fields">
${[...fields, ...optional].map(
  ([name, text]) => html`<dt><code>${name}</code></dt><dd>${text}</dd>
`,
)}</dl>`
}

/** The most common reason why a first purchase does not go through. */
function spendLimitNote(price: PriceTexts, { buy }: Texts): string {
  switch (price.type) {
    case 'FIXED':
      return Number(price.usdc) > 1 ? buy.spendLimitOver : buy.spendLimitUnder
    case 'RANGE':
      return Number(price.minUsdc) > 1 ? buy.spendLimitOver : buy.spendLimitSome
    case 'NOT_SOLD':
      return buy.spendLimitSome
  }
}
