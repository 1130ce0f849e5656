import { type RevealedGoods, revealPath } from '../../api/buying/reveal.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/en.ts'
import { creditedText } from './credited.ts'

/** The page that a one-view link opens. It shows nothing yet: previews of links open it too. */
export function revealPage(scriptUrl: string, { reveal }: Texts): Page {
  return {
    title: reveal.title,
    description: reveal.about,
    main: html`<section class="message">
<h1>${reveal.title}</h1>
<p>${reveal.about}</p>
<form class="reveal" method="post" action="${revealPath}">
<div class="field">
<label for="token">${reveal.label}</label>
<input id="token" name="token" type="text" required="required" autocomplete="off" spellcheck="false">
<p class="hint">${reveal.help}</p>
</div>
<p class="act"><button class="button" type="submit">${reveal.show}</button></p>
</form>
<script type="module" src="${scriptUrl}"></script>
</section>`,
  }
}

/** The goods of one order, readable and ready to be copied. */
export function goodsPage(
  { orderId, kind, brandName, result }: RevealedGoods,
  { reveal, deliveryNames }: Texts,
): Page {
  const named = deliveryNames(kind).filter(([field]) => isShown(field, result))
  return {
    title: brandName,
    description: reveal.once,
    main: html`<section class="message goods">
<h1>${brandName}</h1>
<p>${reveal.once}</p>
${qrOf(result, reveal)}
<dl class="facts">${named.map(
      ([field, name]) => html`
<div><dt>${name}</dt><dd>${shownAs(field, result[field])}</dd></div>`,
    )}
<div><dt>${reveal.order}</dt><dd>${orderId}</dd></div>
</dl>
<p>${reveal.again}</p>
</section>`,
  }
}

/** Suppliers give the whole activation code as the matching id, too; once is enough. */
function isShown(field: string, result: RevealedGoods['result']): boolean {
  if (field === 'activationCode' && result[field] === result['lpa']) return false
  return result[field] !== undefined
}

function qrOf({ qrPng }: RevealedGoods['result'], reveal: Texts['reveal']): Html | undefined {
  if (typeof qrPng !== 'string') return undefined
  return html`<figure class="qr"><img src="${qrPng}" alt="${reveal.qr}" width="240" height="240">
<figcaption>${reveal.scan}</figcaption></figure>`
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
