import type { Offer } from '../goods/offer.ts'
import { retailOf } from '../goods/pricing.ts'
import { requiredFieldsOf } from '../goods/purchase-body.ts'
import { recordPath } from './addresses.ts'
import { buyTexts, fieldTexts } from './buy-texts.ts'
import type { WebDeps } from './deps.ts'
import { exampleCall } from './example-call.ts'
import { type Html, html } from './html.ts'
import type { PriceTexts } from './money-text.ts'

/** How software buys this offer: the calls as they are, and what often goes wrong. */
export function agentSection(
  offer: Offer,
  price: PriceTexts,
  { site, pricing, networkName }: Pick<WebDeps, 'site' | 'pricing' | 'networkName'>,
): Html {
  const call = exampleCall(offer, retailOf(offer, pricing), site.url)
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${buyTexts.agents}</h2>
<p>${buyTexts.agentsLead}${price.type === 'NOT_SOLD' && html` ${buyTexts.agentsNotSold}`}</p>
<ol class="steps">
<li>
<h3>${buyTexts.stepQuote}</h3>
<p>${buyTexts.stepQuoteText} ${buyTexts.placeholders}</p>
${code(call.quote)}
</li>
<li>
<h3>${buyTexts.stepPost}</h3>
<p>${buyTexts.stepPostText}</p>
${code(call.purchase)}
${fieldList(offer)}
</li>
<li>
<h3>${buyTexts.stepPay}</h3>
<p>${buyTexts.stepPayText(networkName)}</p>
<p class="note">${spendLimitNote(price)}</p>
</li>
</ol>
<p><a href="${recordPath(offer)}">${buyTexts.record}</a></p>
</section>`
}

/** A command to copy. */
export function code(text: string): Html {
  return html`<pre><code>${text}</code></pre>`
}

function fieldList(offer: Offer): Html {
  const names = ['offerId', ...requiredFieldsOf(offer)]
  const fields = names.map((name) => [name, fieldTexts[name] ?? ''] as const)
  const optional = offer.kind === 'esim' ? [['iccid', fieldTexts['iccid'] ?? ''] as const] : []
  return html`<h4>${buyTexts.fields}</h4>
<dl class="fields">
${[...fields, ...optional].map(
  ([name, text]) => html`<dt><code>${name}</code></dt><dd>${text}</dd>
`,
)}</dl>`
}

/** The most common reason why a first purchase does not go through. */
function spendLimitNote(price: PriceTexts): string {
  switch (price.type) {
    case 'FIXED':
      return Number(price.usdc) > 1 ? buyTexts.spendLimitOver : buyTexts.spendLimitUnder
    case 'RANGE':
      return Number(price.minUsdc) > 1 ? buyTexts.spendLimitOver : buyTexts.spendLimitSome
    case 'NOT_SOLD':
      return buyTexts.spendLimitSome
  }
}
