import { expect } from 'vitest'
import { fold, wordsOf } from '../../lib/text.ts'
import type { Catalog } from '../catalog.ts'
import { countryNames } from '../countries.ts'
import { categoriesOf } from '../kinds/voucher.ts'
import type { Offer } from '../offer.ts'
import type { Filters } from './filters.ts'
import type { Page } from './search-index.ts'
import { isTypoOf } from './words.ts'

/*
 * The twin: a second implementation of every rule in docs/contributors/decisions/017, offer by offer and without
 * an index, to compare the search with.
 */

/** `sold`: only sold offers. The search chooses another index for that; the twin filters. */
export type TwinFilters = Filters & { readonly sold?: boolean | undefined }

/** Expects the same page from the search and from the twin. All offers must be of one kind. */
export function compareWith(
  catalog: Catalog,
  offers: Offer[],
  { sold, ...asked }: TwinFilters,
  wanted: Page,
) {
  const index = (sold ? catalog.sold : catalog.listed)[offers[0]?.kind ?? 'voucher']
  const expected = twinSearch(offers, { sold, ...asked })
  const { total, offers: found } = index.search(asked, wanted)
  expect(total).toBe(expected.length)
  expect(index.count(asked)).toBe(total)
  expect(found.map(({ id }) => id)).toEqual(
    expected.slice(wanted.offset, wanted.offset + wanted.limit).map(({ id }) => id),
  )
  expect(index.facets(asked)).toEqual(twinFacets(offers, { sold, ...asked }))
}

function twinSearch(offers: readonly Offer[], asked: TwinFilters): Offer[] {
  return offers
    .filter((offer) => meets(offer, asked))
    .map((offer) => ({ offer, key: keyOf(offer, asked.text) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ offer }) => offer)
}

/** The sort key of an offer in the result of a text. */
function keyOf(offer: Offer, text: string | undefined): string {
  const price = offer.price.type === 'FIXED' ? offer.price.fixed : offer.price.min
  const name = `${fold(offer.brandName)}\u0000${offer.brandName}`
  return [rankOf(offer, text), name, String(price).padStart(9, '0'), offer.id].join('\u0001')
}

function twinFacets(offers: readonly Offer[], asked: TwinFilters) {
  const listed = twinSearch(offers, { sold: asked.sold })
  const nameOf = ({ brandName, id }: Offer) => `${fold(brandName)}\u0000${brandName}\u0001${id}`
  const byName = offers.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const among = (own: keyof Filters, valuesOf: (offer: Offer) => readonly string[]) => {
    const { [own]: _, ...others } = asked
    const found = listed.filter((offer) => meets(offer, others)).flatMap(valuesOf)
    // Of values that differ only in case or accents, that of the first offer by name and id is used.
    const all = byName.flatMap(valuesOf)
    return found.map((value) => all.find((each) => fold(each) === fold(value)) ?? '')
  }
  const brands = mostFirst(among('brand', ({ brandName }) => [brandName]))
  return {
    countries: inOrder(among('country', ({ country }) => (country ? [country] : []))),
    regions: inOrder(among('regions', (offer) => offer.regions)),
    brands: brands.slice(0, 100),
    brandTotal: brands.length,
    subTypes: inOrder(among('subType', (offer) => offer.subTypes)),
  }
}

function inOrder(values: readonly string[]): string[] {
  return [...new Set(values)].sort((one, other) => (fold(one) < fold(other) ? -1 : 1))
}

function mostFirst(values: readonly string[]): string[] {
  const times = (value: string) => values.filter((each) => each === value).length
  return inOrder(values).sort((one, other) => times(other) - times(one))
}

function isSold(offer: Offer): boolean {
  if (offer.kind === 'esim') return offer.price.type === 'FIXED'
  return offer.kind !== 'voucher' || offer.requiredFields.length === 0
}

function meets(offer: Offer, asked: TwinFilters): boolean {
  const { country, subType, covers = [], durationDays } = asked
  const { covered, days, regional } = planOf(offer)
  return [
    !asked.sold || isSold(offer),
    asked.brand === undefined || hasBrand(offer, asked.brand),
    asked.text === undefined || rankOf(offer, asked.text) < 9,
    country === undefined || offer.country === country,
    asked.category === undefined ||
      (offer.kind === 'voucher' &&
        [...categoriesOf(offer), ...offer.subTypes].some(
          (each) => fold(each) === fold(asked.category ?? ''),
        )),
    subType === undefined || offer.subTypes.some((each) => fold(each) === fold(subType)),
    asked.regions === undefined || asked.regions.some((each) => offer.regions.includes(each)),
    !asked.multiCountry || regional,
    covers.every((code) => covered.includes(code) || offer.country === code),
    durationDays === undefined || days === durationDays,
    meetsValue(offer, asked),
  ].every(Boolean)
}

function planOf(offer: Offer) {
  if (offer.kind !== 'esim') return { covered: [], days: undefined, regional: false }
  const covered = offer.coverage.map(({ country }) => country)
  return { covered, days: offer.allowance.durationDays, regional: offer.country === undefined }
}

function meetsValue({ price }: Offer, { minUsd = 0, maxUsd = 99 }: Filters): boolean {
  const [least, most] = price.type === 'FIXED' ? [price.fixed, price.fixed] : [price.min, price.max]
  return most >= minUsd * 100 && least <= maxUsd * 100
}

function hasBrand({ brand, brandName }: Offer, value: string): boolean {
  const names = [fold(brand), fold(brandName)]
  const words = spellingsOf(brandName).flatMap(wordsOf)
  const asked = wordsOf(value)
  return (
    names.includes(fold(value)) ||
    (asked.length > 0 && asked.every((word) => words.some((known) => known.startsWith(word))))
  )
}

/** The rank of an offer for a text, the best first; 9 if it is not found. */
function rankOf(offer: Offer, text: string | undefined): number {
  if (text === undefined) return 0
  if (wordsOf(text).length === 0) return 9
  const words = wordsIn(offer)
  const names = [offer.brand, offer.brandName].flatMap(spellingsOf)
  const forms = names.map((name) => wordsOf(name).join(' '))
  const phrase = wordsOf(text).join(' ')
  const exact = wordsOf(text).every((word) => words.some((known) => known.startsWith(word)))
  if (exact && forms.includes(phrase)) return 0
  if (exact) return forms.some((form) => form.startsWith(phrase)) ? 1 : 2
  const near = wordsOf(text).every((word) =>
    words.some((known) => known.startsWith(word) || isTypoOf(word, known)),
  )
  if (!near) return 9
  return forms.some((form) => isTypoOf(phrase, form)) ? 3 : 4
}

function wordsIn(offer: Offer): string[] {
  const description = offer.kind === 'voucher' ? offer.description : undefined
  const own = offer.kind === 'voucher' ? (offer.categories ?? []) : []
  const { brand, brandName, shortNotes, subTypes, regions: places, country } = offer
  const names = country === undefined ? [] : countryNames(country)
  const texts = [
    brand,
    brandName,
    description,
    shortNotes,
    ...subTypes,
    ...own,
    ...places,
    ...names,
  ]
  return texts.flatMap((text) => spellingsOf(text ?? '').flatMap(wordsOf))
}

/** The text as it is, where an apostrophe separates words, and without apostrophes. */
function spellingsOf(text: string): string[] {
  return [text, text.replaceAll(/['’]/g, '')]
}
