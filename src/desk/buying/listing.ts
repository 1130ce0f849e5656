import { type ExampleBody, exampleBody } from '../../goods/example-body.ts'
import type { Kind } from '../../goods/offer.ts'
import { retailOf } from '../../goods/pricing.ts'
import type { Listing } from '../../payments/ports.ts'
import type { ReadDeps } from '../deps.ts'
import type { Site } from '../site.ts'
import { type PaymentDoor, resourceOf } from './payment-required.ts'

/**
 * What an index is told of a purchase route when something was bought there: the same as it hears
 * when it asks the route itself. Nothing of the buyer or of what was bought is in it.
 *
 * @returns undefined while no good of the kind is sold
 */
export function listingOf(deps: ReadDeps, door: PaymentDoor, kind: Kind): Listing | undefined {
  const { site, shelf } = deps
  if (shelf.current().sold[kind].size === 0) return undefined
  return {
    resource: resourceOf(site, door, kind, routeDescription(site, kind)),
    extensions: door.discovery(kind, exampleOf(deps, kind)),
  }
}

/** What a purchase route sells, in a sentence. */
export function routeDescription({ url }: Pick<Site, 'url'>, kind: Kind): string {
  return `Buy a ${kind}. Find its offerId at ${url}/ai/${kind}s`
}

/** A body that buys the first offer of the kind: an index may try it. */
export function exampleOf(
  { shelf, pricing }: Pick<ReadDeps, 'shelf' | 'pricing'>,
  kind: Kind,
): ExampleBody {
  const offer = shelf.current().sold[kind].offerAt(0)
  return exampleBody(offer, retailOf(offer, pricing))
}
