import { makeCatalog } from '../sandbox/supplier/catalog/catalog.ts'
import { publishing } from '../src/api/views/catalog-offer.ts'
import { packCatalog, pricingOn } from '../src/catalog/building/build-catalog.ts'
import { type Catalog, openCatalog } from '../src/catalog/catalog.ts'
import { kinds } from '../src/catalog/good.ts'
import type { Offer } from '../src/catalog/offer.ts'
import { type OfferRecords, offersIn, packOffers } from '../src/catalog/offer-records.ts'
import { parseOffer } from '../src/suppliers/zendit/parse-offer.ts'

export const siteUrl = 'http://localhost:4020'
const made = new Date()
const basis = { markupBps: 0, rates: undefined, times: { readAt: made }, now: made }
export const pricing = pricingOn(basis)

/** A catalog of these offers, built as the store builds it, but on this thread. */
export function catalogOf(offers: OfferRecords): Catalog {
  const packed = packCatalog(offersIn(offers), basis, publishing({ siteUrl, pricing }))
  return openCatalog(packed, { offers, readAt: made, rejected: {} })
}

export function madeCatalog(offers: readonly Offer[]): Catalog {
  return catalogOf(packOffers(offers))
}

/** Offers of every kind, shaped like a supplier's: a global eSIM plan, for example, names all its countries. */
export function supplierOffers(count: number): Offer[] {
  const { vouchers, topups, esim } = makeCatalog(count).lists
  const lists = { voucher: vouchers, topup: topups, esim }
  return kinds.flatMap((kind) =>
    lists[kind]
      .map((record) => parseOffer(record, kind))
      .filter((read) => typeof read === 'object'),
  )
}
