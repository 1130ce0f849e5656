import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BuyingDeps } from '../desk/buying/deps.ts'
import { rules } from '../desk/refusals.ts'
import { digestOf, publicMinute, sendText } from '../http/caching.ts'
import { Refusal } from '../primitives/refusal.ts'
import { routeBuying } from './buying/buy-routes.ts'
import type { PayingDeps } from './buying/deps.ts'
import { routePaying } from './buying/pay-routes.ts'
import { walletScript } from './buying/wallet-script.ts'
import { routeForModels } from './for-models/routes.ts'
import { picture, styleSheet } from './frame/assets.ts'
import type { WebDeps } from './frame/deps.ts'
import { document, type Frame, type Page } from './frame/layout.ts'
import { type Message, messagePage } from './frame/message-page.ts'
import { fixedHeaders, pageHeaders } from './frame/page-headers.ts'
import { routeScript, routeScripts } from './frame/scripts.ts'
import { routeApiPage } from './info/api-page.ts'
import { errorsPage } from './info/errors-page.ts'
import { routeReveal } from './orders/reveal-routes.ts'
import { homePage } from './shop/home-page.ts'
import type { Texts } from './texts/en.ts'
import { takeForms } from './visit/forms.ts'

const limited = { config: { limit: 'reading' } } as const
/** The sheet's address names its content, so it may be kept while that address is in use. */
const publicDay = 'public, max-age=86400'

/** The website for people: pages made here, that work without script. */
export function routeWeb(
  app: FastifyInstance,
  { buying, ...deps }: WebDeps & PayingDeps & { readonly buying: BuyingDeps },
): void {
  const { texts } = deps
  const style = styleSheet()
  const frame: Frame = {
    site: deps.site,
    styleUrl: `/style.css?v=${digestOf(style)}`,
    isSandbox: deps.isSandbox,
    texts,
  }
  const send = (request: FastifyRequest, reply: FastifyReply, page: Page, picture?: string) => {
    reply.headers(pageHeaders([deps.site.logo, ...(picture === undefined ? [] : [picture])]))
    const text = document(frame, page)
    return sendText(request, reply, { text, type: 'text/html', cacheControl: publicMinute })
  }
  routeAssets(app, style)
  const urlOf = routeScripts(app)
  routeForModels(app, deps)
  // The errors of pages are pages. In a scope of its own, this changes nothing for the interfaces.
  app.register(async (pages) => {
    pages.setErrorHandler((error, request, reply) => {
      const message = messageFor(error, texts, request, reply)
      reply.headers(pageHeaders([deps.site.logo]))
      return reply
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(document(frame, messagePage(message, texts)))
    })
    routeApiPage(pages, deps)
    pages.get('/', limited, (request, reply) => send(request, reply, homePage(deps)))
    pages.get('/errors', limited, (request, reply) => send(request, reply, errorsPage(texts)))
    takeForms(pages)
    const scriptUrl = routeScript(pages, 'wallet.js', await walletScript())
    routeBuying(pages, { frame, deps, scriptUrl })
    if (deps.checkout) {
      const scriptUrls = ['live.js', 'pay.js'].map(urlOf)
      routePaying(pages, { frame, deps: { ...deps, checkout: deps.checkout }, scriptUrls })
    }
    routeReveal(pages, { frame, scriptUrl: urlOf('reveal.js'), buying })
  })
}

function routeAssets(app: FastifyInstance, style: string): void {
  const logo = picture('logo.svg')
  const assets = [
    ['/style.css', style, 'text/css'],
    ['/logo.svg', logo, 'image/svg+xml'],
    ['/favicon.ico', logo, 'image/svg+xml'],
    ['/robots.txt', 'User-agent: *\nAllow: /\n', 'text/plain'],
  ] as const
  for (const [path, text, type] of assets) {
    app.get(path, (request, reply) => {
      reply.headers(fixedHeaders)
      return sendText(request, reply, { text, type, cacheControl: publicDay })
    })
  }
}

/** What a visitor is told instead of the page, and with which status. Only a defect is logged. */
function messageFor(
  error: unknown,
  { messages }: Texts,
  request: FastifyRequest,
  reply: FastifyReply,
): Message {
  if (error instanceof Refusal) {
    reply.code(rules[error.code].status)
    if (error.code === 'offer_not_found') return messages.offerNotFound
    if (error.code === 'try_again') return messages.notNow
    if (error.code === 'rate_limited') {
      reply.header('retry-after', String(error.details.retryAfterSeconds ?? 1))
      return messages.tooMany
    }
  }
  const status = unreadable(error)
  if (status !== undefined) {
    reply.code(status)
    return messages.notRead
  }
  request.log.error({ err: error }, 'unexpected error')
  reply.code(500)
  return messages.broken
}

/** The status for a body that the HTTP library did not take: too long, or of another type. */
function unreadable(error: unknown): number | undefined {
  if (!(error instanceof Error && 'statusCode' in error)) return undefined
  const { statusCode } = error
  const isTheirs = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isTheirs ? statusCode : undefined
}
