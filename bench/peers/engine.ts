import { countryNames } from '../../src/catalog/countries.ts'
import type { Offer } from '../../src/catalog/offer.ts'
import type { Filters } from '../../src/catalog/search/filters.ts'

/** A search engine under comparison. It runs in a process of its own. */
export interface Engine {
  /** Builds everything that is needed to answer. */
  build(offers: readonly Offer[]): void | Promise<void>
  /**
   * Finds the total and a page of 20. A synchronous engine does not return a promise, so that it does not
   * pay for a turn of the event loop.
   *
   * @returns the total
   */
  ask(filters: Filters): number | Promise<number>
  /** The memory or disk that it takes outside of JavaScript; MB. */
  outside?(): Promise<number>
  close?(): Promise<void>
}

export const pageSize = 20

/**
 * An offer as the other engines get it: the values that filters compare whole, and in one field all words
 * that a text search finds it by (docs/contributors/decisions/017).
 */
export interface Document {
  /** The place in the published order, for engines that can sort by it. */
  readonly id: number
  readonly offerId: string
  readonly brandName: string
  readonly country: string
  readonly regions: readonly string[]
  readonly subTypes: readonly string[]
  readonly text: string
}

/** The documents of some offers, in the published order: brandName, price, offerId. */
export function documentsOf(offers: readonly Offer[]): Document[] {
  return inOrder(offers).map(({ id, brand, brandName, country, regions, subTypes }, at) => ({
    id: at + 1,
    offerId: id,
    brandName,
    country: country ?? '',
    regions,
    subTypes,
    text: [brand, brandName, ...subTypes, ...regions, ...countryNames(country ?? '')].join(' '),
  }))
}

function inOrder(offers: readonly Offer[]): Offer[] {
  const priceOf = ({ price }: Offer) => (price.type === 'FIXED' ? price.fixed : price.min)
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
  return [...offers].sort(
    (one, other) =>
      compare(one.brandName, other.brandName) ||
      priceOf(one) - priceOf(other) ||
      compare(one.id, other.id),
  )
}
