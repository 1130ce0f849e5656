import { type ExampleBody, exampleBody } from '../../catalog/example-body.ts'
import { goods } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import type { Listing } from '../../payments/ports.ts'
import type { ReadDeps } from '../deps.ts'
import { discoveryPath } from '../paths.ts'
import type { Site } from '../site.ts'
import { type PaymentTransport, resourceOf } from './payment-required.ts'

/**
 * What an index learns about a purchase route after a purchase: the same as when it calls the route itself. It contains
 * nothing about the buyer or the purchase.
 *
 * @returns undefined while no good of the kind is sold
 */
export function listingOf(
  deps: ReadDeps,
  transport: PaymentTransport,
  kind: Kind,
): Listing | undefined {
  const { site, liveCatalog } = deps
  if (liveCatalog.current().sold[kind].size === 0) return undefined
  return {
    resource: resourceOf(site, transport, kind, routeDescription(site, kind)),
    extensions: transport.discovery(kind, exampleOf(deps, kind)),
  }
}

/** What a purchase route sells, in a sentence. */
export function routeDescription({ url }: Pick<Site, 'url'>, kind: Kind): string {
  const { article, noun } = goods[kind].words
  return `Buy ${article} ${noun}. Find its offerId at ${url}${discoveryPath(kind)}`
}

/** A body that buys the first offer of the kind: an index may try it. */
export function exampleOf(
  { liveCatalog, pricing }: Pick<ReadDeps, 'liveCatalog' | 'pricing'>,
  kind: Kind,
): ExampleBody {
  const offer = liveCatalog.current().sold[kind].offerAt(0)
  return exampleBody(offer, retailOf(offer, pricing))
}
