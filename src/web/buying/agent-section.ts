import { purchasePath } from '../../api/paths.ts'
import { type ExampleBody, exampleBody } from '../../catalog/example-body.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Retail, retailOf } from '../../catalog/pricing.ts'
import { requiredFieldsOf } from '../../catalog/purchase-body.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { recordPath } from '../paths.ts'
import type { PriceTexts } from '../shop/money-text.ts'
import type { Texts } from '../texts/texts.ts'

/** How software buys this offer: complete calls, and the most common mistake. */
export function agentSection(
  offer: Offer,
  price: PriceTexts,
  { site, pricing, networkName, t }: Pick<WebDeps, 'site' | 'pricing' | 'networkName' | 't'>,
): Html {
  const call = exampleCall(offer, retailOf(offer, pricing), site.url)
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${t('buy.agents')}</h2>
<p>${t('buy.agentsLead')}${price.type === 'NOT_SOLD' && html` ${t('buy.agentsNotSold')}`}</p>
<ol class="steps">
<li>
<h3>${t('buy.stepQuote')}</h3>
<p>${t('buy.stepQuoteText')} ${t('buy.placeholders')}</p>
${code(call.quote)}
</li>
<li>
<h3>${t('buy.stepPost')}</h3>
<p>${t('buy.stepPostText')}</p>
${code(call.purchase)}
${fieldList(offer, t)}
</li>
<li>
<h3>${t('buy.stepPay')}</h3>
<p>${t('buy.stepPayText', { network: networkName })}</p>
<p class="note">${spendLimitNote(price, t)}</p>
</li>
</ol>
<p><a href="${recordPath(offer)}">${t('buy.record')}</a></p>
</section>`
}

/** A command to copy. */
export function code(text: string): Html {
  return html`<pre><code>${text}</code></pre>`
}

const fieldNames = [
  'offerId',
  'firstName',
  'lastName',
  'email',
  'country',
  'msisdn',
  'value',
  'iccid',
] as const

function fieldList(offer: Offer, t: Texts): Html {
  const required: readonly string[] = ['offerId', ...requiredFieldsOf(offer)]
  const isNamed = (name: string) =>
    required.includes(name) || (name === 'iccid' && offer.kind === 'esim')
  return html`<h4>${t('buy.fields')}</h4>
<dl class="fields">
${fieldNames.filter(isNamed).map(
  (name) => html`<dt><code>${name}</code></dt><dd>${t(`buy.fieldTexts.${name}`)}</dd>
`,
)}</dl>`
}

/** The most common reason why a first purchase fails. */
function spendLimitNote(price: PriceTexts, t: Texts): string {
  switch (price.type) {
    case 'FIXED':
      return Number(price.usdc) > 1 ? t('buy.spendLimitOver') : t('buy.spendLimitUnder')
    case 'RANGE':
      return Number(price.minUsdc) > 1 ? t('buy.spendLimitOver') : t('buy.spendLimitSome')
    case 'NOT_SOLD':
      return t('buy.spendLimitSome')
  }
}

/** What an agent sends to buy an offer. Only the data of the recipient has to be replaced. */
interface ExampleCall {
  /** Gets the exact price. Free. */
  readonly quote: string
  /** The purchase itself, answered 402 with the terms. */
  readonly purchase: string
  /** The JSON body of the purchase. */
  readonly body: ExampleBody
}

/** The calls that buy this offer; they pass the store's own checks. */
export function exampleCall(offer: Offer, retail: Retail, siteUrl: string): ExampleCall {
  const url = `${siteUrl}${purchasePath(offer.kind)}`
  const body = exampleBody(offer, retail)
  const query = new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return {
    quote: `curl ${quoted(`${url}?${query}`)}`,
    purchase: [
      `curl -i -X POST ${quoted(url)} \\`,
      "  -H 'content-type: application/json' \\",
      `  -d ${quoted(JSON.stringify(body))}`,
    ].join('\n'),
    body,
  }
}

/** Any text as one argument for a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
