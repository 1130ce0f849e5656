import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BuyingDeps } from '../desk/buying/deps.ts'
import { publicMinute, sendText } from '../http/caching.ts'
import type { PageFor } from '../http/error-edge.ts'
import { routeBuying } from './buying/buy-routes.ts'
import type { PayingDeps } from './buying/deps.ts'
import { routePaying } from './buying/pay-routes.ts'
import { walletScript } from './buying/wallet-script.ts'
import { routeForModels } from './for-models/routes.ts'
import { routeLook } from './frame/assets.ts'
import type { WebDeps } from './frame/deps.ts'
import { browserErrors, errorDocument } from './frame/error-page.ts'
import { document, type Frame, type Page } from './frame/layout.ts'
import { pageHeaders } from './frame/page-headers.ts'
import { routeScript, routeScripts } from './frame/scripts.ts'
import { routeApiPage } from './info/api-page.ts'
import { errorsPage } from './info/errors-page.ts'
import { howPage } from './info/how-page.ts'
import { routeSiteFiles } from './info/site-files.ts'
import { termsPage } from './info/terms-page.ts'
import { routeReveal } from './orders/reveal-routes.ts'
import { homePage } from './shop/home-page.ts'
import { routeSearch } from './shop/search-routes.ts'
import { takeForms } from './visit/forms.ts'

const limited = { config: { limit: 'reading' } } as const

/**
 * The website for people: pages made here, that work without script.
 *
 * @returns what makes a page of an error that no page's own routes answer
 */
export function routeWeb(
  app: FastifyInstance,
  { buying, ...deps }: WebDeps & PayingDeps & { readonly buying: BuyingDeps },
): PageFor {
  const { site, isSandbox, texts } = deps
  const frame: Frame = { site, isSandbox, texts, ...routeLook(app, site) }
  const send = (request: FastifyRequest, reply: FastifyReply, page: Page) => {
    reply.headers(pageHeaders([site.logo]))
    const text = document(frame, page)
    return sendText(request, reply, { text, type: 'text/html', cacheControl: publicMinute })
  }
  const urlOf = routeScripts(app)
  routeForModels(app, deps)
  routeSiteFiles(app, deps)
  // The errors of pages are pages. In a scope of its own, this changes nothing for the interfaces.
  app.register(async (pages) => {
    pages.setErrorHandler((error, request, reply) =>
      reply.send(errorDocument(error, { request, reply, frame })),
    )
    takeForms(pages)
    routeApiPage(pages, deps)
    routeSearch(pages, send, deps)
    const fixedPages = {
      '/': () => homePage(deps),
      '/how-it-works': () => howPage(deps),
      '/terms': () => termsPage(deps),
      '/errors': () => errorsPage(texts),
    }
    for (const [path, page] of Object.entries(fixedPages)) {
      pages.get(path, limited, (request, reply) => send(request, reply, page()))
    }
    const scriptUrl = routeScript(pages, 'wallet.js', await walletScript())
    routeBuying(pages, { frame, deps, scriptUrl })
    if (deps.checkout) {
      const scriptUrls = ['live.js', 'pay.js'].map(urlOf)
      routePaying(pages, { frame, deps: { ...deps, checkout: deps.checkout }, scriptUrls })
    }
    routeReveal(pages, { frame, scriptUrl: urlOf('reveal.js'), buying })
  })
  return browserErrors(frame)
}
