import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  openReveal,
  type Revealed,
  type RevealedGoods,
  revealPath,
} from '../../api/buying/reveal.ts'
import type { BuyingDeps } from '../../api/deps.ts'
import type { Kind } from '../../catalog/offer.ts'
import { type Html, html } from '../frame/html.ts'
import type { Frame, Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { sendPrivately } from '../frame/private-page.ts'
import { type Texts, titled } from '../texts/texts.ts'
import { formIn } from '../visit/forms.ts'
import { creditedText } from './goods-part.ts'

/** What a link that shows nothing is to machines. */
const closedStatus: Readonly<Record<Exclude<Revealed['type'], 'goods'>, number>> = {
  not_yet: 409,
  never: 410,
  used: 410,
  expired: 410,
  unknown: 400,
}

const limited = { config: { limit: 'reading' } } as const
/** A token is below 300 bytes. */
const maxForm = 1_024

/**
 * The page behind a one-view link, and what it shows when a person presses the button. GET gives the
 * same page to everyone and uses nothing up, because previews of links open them.
 */
export function routeReveal(
  pages: FastifyInstance,
  { frame, buying }: { frame: Frame; buying: BuyingDeps },
): void {
  pages.get(revealPath, limited, (_, reply) => sendPrivately(reply, frame, revealPage(frame.t)))
  const posted = { ...limited, bodyLimit: maxForm }
  pages.post(revealPath, posted, async (request: FastifyRequest, reply) => {
    const opened = await openReveal(buying, formIn(request).get('token') ?? '', request.log)
    if (opened.type === 'goods') return sendPrivately(reply, frame, goodsPage(opened, frame.t))
    const message = messagePage(titled(frame.t, `reveal.closed.${opened.type}`), frame.t)
    return sendPrivately(reply.code(closedStatus[opened.type]), frame, { ...message, ...untraced })
  })
}

/** Its form needs no origin of ours, so not even this store learns where the holder of a link came from. */
const untraced = { isUntraced: true } as const

/** The page that a one-view link opens. It shows nothing yet: previews of links open it too. */
export function revealPage(t: Texts): Page {
  return {
    title: t('reveal.title'),
    description: t('reveal.about'),
    ...untraced,
    scripts: ['reveal.js'],
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
    ...untraced,
    drawsPictures: true,
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
