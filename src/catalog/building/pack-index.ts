import type { Usdc } from '../../lib/money.ts'
import { kindOf } from '../good.ts'
import type { Offer } from '../offer.ts'
import type { MoneyRange } from '../offer-base.ts'
import type { RateTable } from '../ports.ts'
import { inUsd } from '../pricing.ts'
import { coveredBy } from '../search/brand-places.ts'
import { type AmountKind, bandsMet, faceKeyOf } from '../search/face-values.ts'
import { packRuns } from '../search/runs.ts'
import type { PackedIndex, PackedSoldIndex, Sorted } from '../search/search-index.ts'
import { packTerms } from '../search/terms.ts'
import { indexWordsOf, nameFormsOf } from '../search/words.ts'
import { growing, growingFloats } from './growing.ts'
import { type Field, field, inverted, packColumn } from './pack-column.ts'
import { offerWords } from './pack-words.ts'

/** Collects what offers are found by, offer by offer. */
export interface IndexRows {
  /** @param asked its lowest price; undefined if it is not sold */
  add(offer: Offer, asked: Usdc | undefined): void
  /** @param rows those that the index finds, in the published order */
  pack(rows: Uint32Array): PackedIndex
  /** Likewise, with what questions need besides. */
  packSold(rows: Uint32Array): PackedSoldIndex
}

export function indexRows(rates: RateTable | undefined): IndexRows {
  const fields = createFields()
  const words = offerWords()
  const regional = growing()
  const worths = offerWorths(rates)
  const numbers = offerNumbers()
  const pack = (rows: Uint32Array): PackedIndex => {
    const names = packColumn(fields.names, rows)
    return {
      rows,
      names,
      ofBrand: packRuns(names.valuesOf.starts.length - 1, (add) => {
        for (let doc = 0; doc < rows.length; doc++) add(names.codes[doc] as number, doc)
      }),
      ...brandsOf(fields.names, { rows, codes: names.codes }),
      brandNames: packColumn(fields.brandNames, rows),
      countries: packColumn(fields.countries, rows),
      covered: packColumn(fields.covered, rows),
      regions: packColumn(fields.regions, rows),
      subTypes: packColumn(fields.subTypes, rows),
      categories: packColumn(fields.categories, rows),
      durations: packColumn(fields.durations, rows),
      amounts: packColumn(fields.amounts, rows),
      bands: packColumn(fields.bands, rows),
      words: words.pack(rows),
      multiCountry: docsWhere(rows, (row) => regional.at(row) === 1),
      ...worths.pack(rows),
    }
  }
  return {
    add(offer, asked) {
      const { texts, categories, durationDays, dataGb, isMultiCountry } =
        kindOf(offer).indexed(offer)
      fields.names.add([offer.brand, offer.brandName])
      fields.brandNames.add([offer.brandName])
      fields.countries.add(countriesOf(offer))
      fields.covered.add(coveredBy(offer))
      fields.regions.add(offer.regions)
      fields.subTypes.add(offer.subTypes)
      fields.categories.add(categories)
      fields.durations.add(durationDays === undefined ? [] : [String(durationDays)])
      words.add(offer, texts)
      regional.push(isMultiCountry ? 1 : 0)
      fields.amounts.add([offer.price.type === 'RANGE' ? 'open' : 'fixed'] satisfies AmountKind[])
      fields.bands.add(bandsMet(...worths.add(offer)))
      fields.faces.add([faceKeyOf(offer.faceValue ?? offer.price)])
      numbers.add(offer, { asked, dataGb, durationDays })
    },
    pack,
    packSold: (rows) => ({
      ...pack(rows),
      faces: packColumn(fields.faces, rows),
      ...numbers.pack(rows),
    }),
  }
}

function createFields() {
  return {
    names: field(),
    brandNames: field(),
    countries: field(),
    covered: field(),
    regions: field(),
    subTypes: field(),
    categories: field(),
    durations: field(),
    amounts: field(),
    bands: field(),
    faces: field(),
  }
}

/** Collects the lowest and highest worth of offers in US dollars; NaN without a rate. */
function offerWorths(rates: RateTable | undefined) {
  const [low, high] = [growingFloats(), growingFloats()]
  return {
    add(offer: Offer): [number, number] {
      const [min, max] = worthOf(offer, rates)
      low.push(min)
      high.push(max)
      return [min, max]
    },
    pack(rows: Uint32Array) {
      const min = Float64Array.from(rows, low.at)
      const max = Float64Array.from(rows, high.at)
      return {
        faceUsd: { min, max },
        byFaceUsd: { low: byValue(min, 1), high: byValue(min, -1), most: byValue(max, -1) },
      }
    },
  }
}

interface OfferNumbers {
  readonly asked: Usdc | undefined
  readonly dataGb: number | undefined
  readonly durationDays: number | undefined
}

/** Collects the numbers that offers are compared by: price, data, days and face value. */
function offerNumbers() {
  const [usdc, dataGb, days] = [growingFloats(), growingFloats(), growingFloats()]
  const [min, max] = [growingFloats(), growingFloats()]
  return {
    add(offer: Offer, { asked, dataGb: gigabytes, durationDays }: OfferNumbers): void {
      usdc.push(asked === undefined ? Number.NaN : Number(asked) / 1e6)
      dataGb.push(gigabytes ?? Number.NaN)
      days.push(durationDays ?? Number.NaN)
      const face = offer.faceValue ?? offer.price
      const [least, most] = face.type === 'FIXED' ? [face.fixed, face.fixed] : [face.min, face.max]
      min.push(least / face.divisor)
      max.push(most / face.divisor)
    },
    pack(rows: Uint32Array) {
      const prices = sorted(Float64Array.from(rows, usdc.at))
      const gigabytes = Float64Array.from(rows, dataGb.at)
      return {
        usdc: { ...prices, ranks: placesIn(prices.low) },
        dataGb: { values: gigabytes, high: byValue(gigabytes, -1) },
        days: sorted(Float64Array.from(rows, days.at)),
        face: { min: Float64Array.from(rows, min.at), max: Float64Array.from(rows, max.at) },
      }
    },
  }
}

function sorted(values: Float64Array): Sorted {
  return { values, low: byValue(values, 1), high: byValue(values, -1) }
}

/** The rank of each doc in an order of all docs. */
function placesIn(order: Uint32Array): Uint32Array {
  const places = new Uint32Array(order.length)
  for (const [place, doc] of order.entries()) places[doc] = place
  return places
}

/** The docs sorted by their value; equal ones in doc order, and NaN last. */
function byValue(values: Float64Array, sign: 1 | -1): Uint32Array {
  const ranks = values.map((value) =>
    Number.isNaN(value) ? Number.POSITIVE_INFINITY : sign * value,
  )
  // There are few different values, so only those are sorted, and the docs are grouped by them.
  const places = new Map<number, number>()
  for (const rank of Float64Array.from(new Set(ranks)).sort()) places.set(rank, places.size)
  return inverted(places.size, (add) => {
    for (const [doc, rank] of ranks.entries()) add(places.get(rank) as number, doc)
  }).numbers
}

function docsWhere(rows: Uint32Array, test: (row: number) => boolean): Uint32Array {
  const docs: number[] = []
  for (const [doc, row] of rows.entries()) if (test(row)) docs.push(doc)
  return Uint32Array.from(docs)
}

function countriesOf(offer: Offer): string[] {
  return offer.country === undefined ? [] : [offer.country]
}

/** The brands of the docs. The name of a brand is split into words once, not once for each offer. */
function brandsOf(
  names: Field,
  { rows, codes }: { readonly rows: Uint32Array; readonly codes: ArrayLike<number> },
) {
  const brands: { brand: string; brandName: string }[] = []
  for (let doc = 0; doc < rows.length; doc++) {
    // Brands are numbered in the order in which docs first have them.
    if (codes[doc] !== brands.length) continue
    const [brand = '', brandName = ''] = names.found[names.codes.at(rows[doc] as number)] ?? []
    brands.push({ brand, brandName })
  }
  return {
    brandsJson: Uint8Array.from(Buffer.from(JSON.stringify(brands))),
    brandWords: termsOf(brands.map(({ brandName }) => indexWordsOf(brandName))),
    nameForms: termsOf(
      brands.map(({ brand, brandName }) => [brand, brandName].flatMap(nameFormsOf)),
    ),
  }
}

function termsOf(wordsOf: readonly (readonly string[])[]) {
  const numbers = new Map<string, number>()
  for (const words of wordsOf) {
    for (const word of words) if (!numbers.has(word)) numbers.set(word, numbers.size)
  }
  return packTerms([...numbers.keys()], (add) => {
    for (const [code, words] of wordsOf.entries()) {
      for (const word of words) add(numbers.get(word) as number, code)
    }
  })
}

/** What an offer is worth in US dollars: its face value, or its price if the face value has no rate. */
function worthOf({ faceValue, price }: Offer, rates: RateTable | undefined): [number, number] {
  const worth = boundsOf(faceValue ?? price, rates)
  return Number.isNaN(worth[0]) ? boundsOf(price, rates) : worth
}

function boundsOf(money: MoneyRange, rates: RateTable | undefined): [number, number] {
  const [min, max] = money.type === 'FIXED' ? [money.fixed, money.fixed] : [money.min, money.max]
  return [inUsd(min, money, rates) ?? Number.NaN, inUsd(max, money, rates) ?? Number.NaN]
}
