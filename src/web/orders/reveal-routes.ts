import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { openReveal, type Revealed, revealPath } from '../../api/buying/reveal.ts'
import type { BuyingDeps } from '../../api/deps.ts'
import { document, type Frame, type Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { type PageNeeds, pageHeaders } from '../frame/page-headers.ts'
import { titled } from '../texts/texts.ts'
import { formIn } from '../visit/forms.ts'
import { privately } from '../visit/privately.ts'
import { goodsPage, revealPage } from './reveal-page.ts'

/** What a link that shows nothing is to machines. */
const closedStatus: Readonly<Record<Exclude<Revealed['type'], 'goods'>, number>> = {
  not_yet: 409,
  never: 410,
  used: 410,
  expired: 410,
  unknown: 400,
}

const limited = { config: { limit: 'reading' } } as const
/** Not even this store hears where the bearer of a link came from; the form needs no origin of ours. */
const untraced = { 'referrer-policy': 'no-referrer' } as const
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
  // An operator's logo may come from another host, which need not hear of these pages.
  const own = { ...frame, site: { ...frame.site, logo: '/logo.svg' } }
  const send = (reply: FastifyReply, page: Page, needs: PageNeeds = {}) =>
    privately(reply)
      .headers({ ...pageHeaders([], needs), ...untraced })
      .type('text/html; charset=utf-8')
      .send(document(own, page))

  pages.get(revealPath, limited, (_, reply) =>
    send(reply, revealPage(frame.scriptUrl('reveal.js'), frame.t), { sendsForm: true }),
  )
  const posted = { ...limited, bodyLimit: maxForm }
  pages.post(revealPath, posted, async (request: FastifyRequest, reply) => {
    const opened = await openReveal(buying, formIn(request).get('token') ?? '', request.log)
    if (opened.type === 'goods')
      return send(reply, goodsPage(opened, frame.t), { drawsPictures: true })
    const message = titled(frame.t, `reveal.closed.${opened.type}`)
    return send(reply.code(closedStatus[opened.type]), messagePage(message, frame.t))
  })
}
