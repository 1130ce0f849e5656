import { countryNames } from '../../src/catalog/countries.ts'
import type { Offer } from '../../src/catalog/offer.ts'
import type { Filters } from '../../src/catalog/search/filters.ts'

/** A way to search, asked the same as all others. It lives in a process of its own. */
export interface Engine {
  /** Makes everything that is needed to answer. */
  build(offers: readonly Offer[]): void | Promise<void>
  /**
   * Finds the total and a page of twenty. One that answers at once does not give a promise, so that
   * it does not wait for its turn.
   *
   * @returns the total
   */
  ask(filters: Filters): number | Promise<number>
  /** What it keeps outside of its process; MB. */
  outside?(): Promise<number>
  close?(): Promise<void>
}

export const pageSize = 20

/**
 * An offer as the others are given it: the values that are compared whole, and the words that a text
 * finds it by (docs/contributors/decisions/017), which are few enough for one field.
 */
export interface Document {
  /** The place in the published order, for those that can keep to it. */
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
