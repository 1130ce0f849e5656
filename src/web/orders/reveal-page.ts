import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  openReveal,
  type Revealed,
  type RevealedGoods,
  revealPath,
} from '../../api/buying/reveal.ts'
import type { BuyingDeps } from '../../api/deps.ts'
import { fieldHtml } from '../frame/fields.ts'
import { html } from '../frame/html.ts'
import type { Frame, Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { sendPrivately } from '../frame/private-page.ts'
import { type Texts, titled } from '../texts/texts.ts'
import { formIn } from '../visit/forms.ts'
import { goodsList } from './goods-part.ts'

/** The status for a link that shows no goods. */
const closedStatus: Readonly<Record<Exclude<Revealed['type'], 'goods'>, number>> = {
  not_yet: 409,
  never: 410,
  used: 410,
  expired: 410,
  unknown: 400,
}

const limited = { config: { limit: 'reading' } } as const
/** In bytes; a token has fewer than 300. */
const maxForm = 1_024

/**
 * Routes the page of a one-view link, and the goods that it shows when a person presses the button. GET serves the same
 * page to everyone and does not use up the link, because link previews open it.
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

/** The form of this page does not check its origin, so the page needs no referrer, not even to this store. */
const untraced = { isUntraced: true } as const

/** The page that a one-view link opens. It shows no goods yet, because link previews open it too. */
export function revealPage(t: Texts): Page {
  const field = {
    name: 'token',
    label: t('reveal.label'),
    hint: t('reveal.help'),
    value: '',
    isRequired: true,
    attributes: { autocomplete: 'off', spellcheck: 'false' },
  }
  return {
    title: t('reveal.title'),
    description: t('reveal.about'),
    ...untraced,
    scripts: ['reveal.js'],
    main: html`<section class="message">
<h1>${t('reveal.title')}</h1>
<p>${t('reveal.about')}</p>
<form class="reveal" method="post" action="${revealPath}">
${fieldHtml(field, t)}
<p class="act"><button class="button" type="submit">${t('reveal.show')}</button></p>
</form>
</section>`,
  }
}

/** The goods of one order, with buttons to copy them. */
export function goodsPage({ orderId, kind, brandName, result }: RevealedGoods, t: Texts): Page {
  return {
    title: brandName,
    description: t('reveal.once'),
    ...untraced,
    scripts: ['copy.js'],
    main: html`<div class="following">
<section class="stage">
<p class="which">${t('orders.order')} <code>${orderId}</code></p>
<h1>${brandName}</h1>
<p class="lead">${t('reveal.once')}</p>
</section>
<section class="sheet yours" aria-labelledby="goods">
<h2 id="goods">${t(`orders.goods.title.${kind}`)}</h2>
${goodsList(kind, result, t)}
</section>
<p>${t('reveal.again')}</p>
</div>`,
  }
}
