import type { Offer } from '../goods/offer.ts'
import { listedCharge } from '../goods/pricing.ts'
import type { Wish } from '../goods/purchase-body.ts'
import { shownOf } from '../goods/shown.ts'
import type { Item } from './order.ts'

/** What is bought, in the words of the catalog of now. */
export function itemOf(offer: Offer, wish: Wish): Item {
  const value = wish.value === undefined ? undefined : (wish.value * offer.price.divisor) / 100
  return {
    kind: offer.kind,
    offerId: offer.id,
    brandName: offer.brandName,
    ...(offer.country === undefined ? {} : { country: offer.country }),
    ...(value === undefined ? {} : { value }),
    charge: listedCharge(offer, value),
    shown: shownOf(offer),
  }
}
