import type { FastifyInstance } from 'fastify'
import type { BuyingDeps } from '../api/operation.ts'
import type { PageFor } from '../http/error-edge.ts'
import type { Limits } from '../http/gate.ts'
import type { PayingDeps } from './buying/buy-form.ts'
import { routeBuying } from './buying/buy-page.ts'
import { routePaying } from './buying/pay-page.ts'
import { frontLinks, routeForModels } from './for-models/routes.ts'
import { routeAssets } from './frame/assets.ts'
import type { WebDeps } from './frame/deps.ts'
import type { Frame } from './frame/layout.ts'
import { browserErrors, errorDocument, pageSenders } from './frame/senders.ts'
import { errorsPage } from './info/error-codes.ts'
import { howPage, termsPage } from './info/prose-pages.ts'
import { routeSiteFiles } from './info/sitemap.ts'
import { routeApprovals } from './orders/approve-page.ts'
import { routeFindPage } from './orders/find-page.ts'
import { routeReveal } from './orders/goods.ts'
import { routeOrderPages } from './orders/order-page.ts'
import type { TrackingDeps } from './orders/tracking.ts'
import { homePage } from './shop/home-page.ts'
import { routeSearch } from './shop/search-page.ts'
import { reads, takeForms } from './visitor.ts'

/**
 * The website for people. Its pages are rendered on the server and work without script.
 *
 * @returns a function that makes the error page for a request outside the routes of the pages
 */
export function routeWeb(
  app: FastifyInstance,
  {
    buying,
    tracking,
    ...deps
  }: WebDeps &
    PayingDeps & {
      readonly buying: BuyingDeps
      readonly tracking: TrackingDeps
      readonly limits: Pick<Limits, 'checkout'>
    },
): PageFor {
  const { site, isSandbox, t } = deps
  const frame: Frame = { site, isSandbox, t, ...routeAssets(app, site) }
  const senders = pageSenders(frame, deps)
  routeForModels(app, { ...deps, now: deps.pricing.now })
  routeSiteFiles(app, deps)
  // Errors of pages are pages. The scope keeps this error handler from the APIs.
  app.register(async (pages) => {
    pages.setErrorHandler((error, request, reply) =>
      reply.send(errorDocument(error, { request, reply, frame })),
    )
    routeSearch(pages, senders, deps)
    const fixedPages = {
      '/': () => homePage(deps),
      '/how-it-works': () => howPage(deps),
      '/terms': () => termsPage(deps),
      '/errors': () => errorsPage(t),
    }
    for (const [path, page] of Object.entries(fixedPages)) {
      pages.get(path, reads, (request, reply) => {
        if (path === '/') reply.header('link', frontLinks)
        return senders.sendKept(request, reply, path, page)
      })
    }
    takeForms(pages, frame)
    routeBuying(pages, { ...deps, frame, mail: tracking.mail })
    const { checkout } = deps
    if (checkout) routePaying(pages, { ...deps, frame, checkout, follow: tracking.follow })
    routeReveal(pages, { frame, buying })
    routeApprovals(pages, { frame, buying })
    routeOrderPages(pages, { ...tracking, frame })
    routeFindPage(pages, { ...tracking, frame })
  })
  return browserErrors(frame)
}
