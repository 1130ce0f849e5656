import { type RevealedGoods, revealPath } from '../../api/buying/reveal.ts'
import type { Kind } from '../../catalog/offer.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'
import { creditedText } from './credited.ts'

/** The page that a one-view link opens. It shows nothing yet: previews of links open it too. */
export function revealPage(scriptUrl: string, t: Texts): Page {
  return {
    title: t('reveal.title'),
    description: t('reveal.about'),
    main: html`<section class="message">
<h1>${t('reveal.title')}</h1>
<p>${t('reveal.about')}</p>
<form class="reveal" method="post" action="${revealPath}">
<div class="field">
<label for="token">${t('reveal.label')}</label>
<input id="token" name="token" type="text" required="required" autocomplete="off" spellcheck="false">
<p class="hint">${t('reveal.help')}</p>
</div>
<p class="act"><button class="button" type="submit">${t('reveal.show')}</button></p>
</form>
<script type="module" src="${scriptUrl}"></script>
</section>`,
  }
}

/** The parts of a delivery, in the order of the page. */
const fields = [
  'code',
  'pin',
  'redemptionUrl',
  'msisdn',
  'credited',
  'lpa',
  'smdpAddress',
  'activationCode',
  'iccid',
  'confirmationNumber',
  'expiresAt',
  'instructions',
  'terms',
] as const

function nameOf(field: (typeof fields)[number], kind: Kind, t: Texts): string {
  const isCard = field === 'credited' && kind === 'voucher'
  return t(isCard ? 'reveal.fields.creditedCard' : `reveal.fields.${field}`)
}

/** The goods of one order, readable and ready to be copied. */
export function goodsPage({ orderId, kind, brandName, result }: RevealedGoods, t: Texts): Page {
  const shown = fields.filter((field) => isShown(field, result))
  return {
    title: brandName,
    description: t('reveal.once'),
    main: html`<section class="message goods">
<h1>${brandName}</h1>
<p>${t('reveal.once')}</p>
${qrOf(result, t)}
<dl class="facts">${shown.map(
      (field) => html`
<div><dt>${nameOf(field, kind, t)}</dt><dd>${shownAs(field, result[field])}</dd></div>`,
    )}
<div><dt>${t('reveal.order')}</dt><dd><code class="copy">${orderId}</code></dd></div>
</dl>
<p>${t('reveal.again')}</p>
</section>`,
  }
}

/** Suppliers give the whole activation code as the matching id, too; once is enough. */
function isShown(field: string, result: RevealedGoods['result']): boolean {
  if (field === 'activationCode' && result[field] === result['lpa']) return false
  return result[field] !== undefined
}

function qrOf({ qrPng }: RevealedGoods['result'], t: Texts): Html | undefined {
  if (typeof qrPng !== 'string') return undefined
  return html`<figure class="qr"><img src="${qrPng}" alt="${t('reveal.qr')}" width="240" height="240">
<figcaption>${t('reveal.scan')}</figcaption></figure>`
}

/** What is copied is selected with one tap; prose is not. */
const copied: ReadonlySet<string> = new Set([
  'code',
  'pin',
  'lpa',
  'smdpAddress',
  'activationCode',
  'iccid',
  'confirmationNumber',
])

function shownAs(field: string, value: unknown): Html {
  const text = creditedText(value) ?? String(value)
  if (field === 'expiresAt') return html`${text.replace(/T\d\d:.*$/, '')}`
  if (copied.has(field)) return html`<code class="copy">${text}</code>`
  if (field === 'redemptionUrl' && /^https:\/\//.test(text)) {
    return html`<a href="${text}" rel="noopener noreferrer">${text}</a>`
  }
  return html`<span class="said">${text}</span>`
}
