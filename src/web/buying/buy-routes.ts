import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Offer } from '../../catalog/offer.ts'
import type { Limits } from '../../http/rate-limit.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import { document, type Frame, type Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { pageHeaders } from '../frame/page-headers.ts'
import { withRetryAfter } from '../frame/retry-after.ts'
import { buyPath } from '../shop/addresses.ts'
import { type TitledName, titled } from '../texts/texts.ts'
import { rememberOrder } from '../visit/access.ts'
import { formIn, isFromElsewhere } from '../visit/forms.ts'
import { payPath } from '../visit/paths.ts'
import { admitted } from './admission.ts'
import { buyPage } from './buy-page.ts'
import type { PayingDeps } from './deps.ts'
import { type FormAgain, startFrom } from './starting.ts'

/** Every field of the form, each as long as it may be. */
const maxForm = 8 * 1_024
/** Each copy has a key of its own, so nobody else may be given it; a browser that goes back may keep it. */
const ownCopy = 'private, no-cache'

export interface BuyRoutes {
  readonly frame: Frame
  readonly deps: WebDeps & PayingDeps & { readonly limits: Pick<Limits, 'checkout'> }
  /** What keeps the form, then what pays from a wallet and looks at it. */
  readonly scriptUrls: readonly string[]
}

type OfferRequest = FastifyRequest<{ Params: { offerId: string } }>

/** The page of an offer, and its form, which starts a checkout in a coin. */
export function routeBuying(pages: FastifyInstance, routes: BuyRoutes): void {
  const config = { limit: 'reading' } as const
  pages.get('/buy/:offerId', { config }, (request: OfferRequest, reply) => {
    const { find, findLike } = routes.deps.liveCatalog.current()
    const { offerId } = request.params
    const meant = find(offerId) === undefined ? findLike(offerId) : undefined
    // An id that a person has copied by hand, or a mail program in small letters.
    if (meant !== undefined) return reply.redirect(buyPath(meant), 302)
    reply.header('cache-control', ownCopy)
    return send(reply, routes, offerOf(request, routes))
  })
  const posted = { config: { limit: 'purchase' }, bodyLimit: maxForm } as const
  pages.post('/buy/:offerId', posted, (request: OfferRequest, reply) => {
    reply.header('cache-control', 'no-store')
    return take(request, reply, routes)
  })
}

async function take(request: OfferRequest, reply: FastifyReply, routes: BuyRoutes) {
  const { deps } = routes
  if (isFromElsewhere(request)) return say(reply.code(403), routes, 'form.elsewhere')
  const offer = offerOf(request, routes)
  const { checkout: checkouts, limits } = deps
  const checkout = checkouts && admitted(checkouts, limits.checkout, { request, reply })
  const taken = await startFrom({ ...deps, checkout }, offer, formIn(request), request.log)
  switch (taken.type) {
    case 'strange':
      return say(reply.code(400), routes, 'form.strange')
    case 'again':
      return send(withRetryAfter(reply.code(taken.status), taken), routes, offer, taken)
    case 'started': {
      const { id, orderId, accessToken: token } = taken
      const isSecure = deps.site.url.startsWith('https:')
      rememberOrder(reply, { orderId, checkout: id, token, isSecure })
      return reply.redirect(payPath(id), 303)
    }
  }
}

function offerOf({ params }: OfferRequest, { deps }: BuyRoutes): Offer {
  const offer = deps.liveCatalog.current().find(params.offerId)
  if (offer === undefined) {
    throw new Refusal('offer_not_found', deps.t('messages.offerNotFound.text'))
  }
  return offer
}

function send(reply: FastifyReply, routes: BuyRoutes, offer: Offer, again?: FormAgain) {
  const { deps, scriptUrls } = routes
  return sendPage(reply, routes, buyPage(offer, deps, { scriptUrls, again }))
}

function say(reply: FastifyReply, routes: BuyRoutes, message: TitledName) {
  const { t } = routes.deps
  return sendPage(reply, routes, messagePage(titled(t, message), t))
}

function sendPage(reply: FastifyReply, { frame, deps }: BuyRoutes, page: Page) {
  const needs = { sendsForm: true, drawsPictures: true, asksUs: true } as const
  return reply
    .headers(pageHeaders([deps.site.logo], needs))
    .type('text/html; charset=utf-8')
    .send(document(frame, page))
}
