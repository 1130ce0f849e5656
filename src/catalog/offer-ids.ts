import { eachOf, type Sliced } from '../lib/slices.ts'
import type { Offer } from './offer.ts'

/** Finds offers by their ids. */
export class OfferIds {
  readonly #offers: ReadonlyMap<string, Offer>
  /** The ids that are written in another way than the people's and models' copies of them are compared in. */
  readonly #alike: ReadonlyMap<string, Offer>

  constructor(offers: ReadonlyMap<string, Offer>, alike: ReadonlyMap<string, Offer>) {
    this.#offers = offers
    this.#alike = alike
  }

  find(id: string): Offer | undefined {
    return this.#offers.get(id)
  }

  /**
   * The offer that was probably meant by an id that none has: one that differs only in case, or else also in the signs
   * between words, which models change when they copy an id.
   */
  findLike(id: string): Offer | undefined {
    const [inCapitals, alike] = formsOf(id)
    const found = (form: string) => this.#offers.get(form) ?? this.#alike.get(form)
    return found(inCapitals) ?? found(alike)
  }
}

export function* idsOf(offers: readonly Offer[]): Sliced<OfferIds> {
  const byId = new Map<string, Offer>()
  const alike = new Map<string, Offer>()
  yield* eachOf(offers, (offer) => {
    byId.set(offer.id, offer)
    for (const form of formsOf(offer.id)) {
      if (form !== offer.id && !alike.has(form)) alike.set(form, offer)
    }
  })
  return new OfferIds(byId, alike)
}

function formsOf(id: string): readonly [inCapitals: string, alike: string] {
  const inCapitals = id.toUpperCase()
  return [inCapitals, inCapitals.replace(/[- ]/g, '_')]
}
