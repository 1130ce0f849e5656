import { countryNames } from '../countries.ts'
import { isRegional } from '../esim.ts'
import type { MoneyRange, Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { inUsd } from '../pricing.ts'
import { type Column, columnOf, docsByCode } from './column.ts'
import type { Docs } from './docs.ts'
import { type Terms, termsBuilder } from './terms.ts'
import { indexWordsOf, nameFormsOf } from './words.ts'

/** Everything needed to find offers of one kind. Made once per catalog and never changed. */
export interface SearchIndex {
  /** In the published order: brandName, price, offerId (decisions 2). A doc is a place in it. */
  readonly offers: readonly Offer[]
  readonly all: Docs
  readonly sold: Docs
  readonly multiCountry: Docs
  /** By `brand` and by `brandName`. */
  readonly names: Column
  readonly brandNames: Column
  readonly countries: Column
  readonly covered: Column
  readonly regions: Column
  readonly subTypes: Column
  readonly durations: Column
  /** The docs of each combination in `names`, that is of each brand. */
  readonly ofBrand: readonly Docs[]
  /** The words of `brandName`, each with the brands that have it, as combinations in `names`. */
  readonly brandWords: Terms
  /** Likewise the brand's names in the forms that a whole text is compared with. */
  readonly nameForms: Terms
  readonly words: Terms
  /** The bounds of each doc's face value in USD, NaN where no rate is known. */
  readonly faceUsd: { readonly min: Float64Array; readonly max: Float64Array }
}

export interface Shelved {
  readonly offer: Offer
  readonly sold: boolean
}

/** @param shelved the offers of one kind, already in the published order */
export function searchIndexOf(
  shelved: readonly Shelved[],
  rates: RateTable | undefined,
): SearchIndex {
  const offers = shelved.map(({ offer }) => offer)
  const names = columnOf(offers, ({ brand, brandName }) => [brand, brandName])
  const ofBrand = docsByCode(names)
  return {
    offers,
    all: Uint32Array.from(offers.keys()),
    sold: docsWhere(shelved, ({ sold }) => sold),
    multiCountry: docsWhere(offers, (offer) => offer.kind === 'esim' && isRegional(offer)),
    names,
    ofBrand,
    brandNames: columnOf(offers, ({ brandName }) => [brandName]),
    countries: columnOf(offers, countriesOf),
    covered: columnOf(offers, coveredBy),
    regions: columnOf(offers, ({ regions }) => regions),
    subTypes: columnOf(offers, ({ subTypes }) => subTypes),
    durations: columnOf(offers, durationsOf),
    ...brandTermsOf(offers, ofBrand),
    words: wordsIn(offers),
    faceUsd: faceValuesOf(offers, rates),
  }
}

function docsWhere<T>(rows: readonly T[], test: (row: T) => boolean): Docs {
  return Uint32Array.from([...rows.keys()].filter((doc) => test(rows[doc] as T)))
}

function countriesOf(offer: Offer): string[] {
  return offer.country === undefined ? [] : [offer.country]
}

function coveredBy(offer: Offer): string[] {
  const covered = offer.kind === 'esim' ? offer.coverage.map(({ country }) => country) : []
  return [...countriesOf(offer), ...covered]
}

function durationsOf(offer: Offer): string[] {
  const days = offer.kind === 'voucher' ? undefined : offer.allowance.durationDays
  return days === undefined ? [] : [String(days)]
}

/** A name is looked at once for each brand, not for each of its offers. */
function brandTermsOf(offers: readonly Offer[], ofBrand: readonly Docs[]) {
  const brandWords = termsBuilder()
  const nameForms = termsBuilder()
  for (const [brandCode, [doc]] of ofBrand.entries()) {
    const offer = offers[doc ?? 0]
    if (offer === undefined) continue
    brandWords.add(brandCode, indexWordsOf(offer.brandName))
    nameForms.add(brandCode, [offer.brand, offer.brandName].flatMap(nameFormsOf))
  }
  return { brandWords: brandWords.build(), nameForms: nameForms.build() }
}

function wordsIn(offers: readonly Offer[]): Terms {
  const words = termsBuilder()
  const wordsOf = remembered(indexWordsOf)
  const wordsOfCountry = remembered((code: string) => countryNames(code).flatMap(indexWordsOf))
  for (const [doc, offer] of offers.entries()) {
    for (const text of textsOf(offer)) words.add(doc, wordsOf(text))
    if (offer.country !== undefined) words.add(doc, wordsOfCountry(offer.country))
  }
  return words.build()
}

/** The texts that `search` and `q` look in, besides the country's name (decisions 2). */
function textsOf(offer: Offer): string[] {
  const description = offer.kind === 'voucher' ? offer.description : undefined
  const { brand, brandName, shortNotes, subTypes, regions } = offer
  return [brand, brandName, description ?? '', shortNotes ?? '', ...subTypes, ...regions]
}

function faceValuesOf(offers: readonly Offer[], rates: RateTable | undefined) {
  const bounds = offers.map(({ faceValue, price }) => boundsOf(faceValue ?? price, rates))
  return {
    min: Float64Array.from(bounds, ([min]) => min),
    max: Float64Array.from(bounds, ([, max]) => max),
  }
}

function boundsOf(money: MoneyRange, rates: RateTable | undefined): [number, number] {
  const [min, max] = money.type === 'FIXED' ? [money.fixed, money.fixed] : [money.min, money.max]
  return [inUsd(min, money, rates) ?? Number.NaN, inUsd(max, money, rates) ?? Number.NaN]
}

/** Thousands of offers share a description; each text is taken apart once. */
function remembered<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>()
  return (text) => {
    const known = made.get(text)
    if (known !== undefined) return known
    const fresh = make(text)
    made.set(text, fresh)
    return fresh
  }
}
