import type { Offer } from '../catalog/offer.ts'
import { detailsOf } from '../catalog/offer-details.ts'
import { listedCharge } from '../catalog/pricing.ts'
import type { LineItem } from '../catalog/purchase-body.ts'
import type { Item } from './order.ts'

/** What is bought, in the words of the catalog of now. */
export function itemOf(offer: Offer, lineItem: LineItem): Item {
  const value =
    lineItem.value === undefined ? undefined : (lineItem.value * offer.price.divisor) / 100
  return {
    kind: offer.kind,
    offerId: offer.id,
    source: offer.source,
    brandName: offer.brandName,
    ...(offer.country === undefined ? {} : { country: offer.country }),
    ...(value === undefined ? {} : { value }),
    charge: listedCharge(offer, value),
    shown: detailsOf(offer),
  }
}
