import type { Offer } from '../offer.ts'
import { type OfferRecords, offerAt, offersAt } from '../offer-records.ts'
import type { ReadyJson } from '../ready-json.ts'
import { type Column, openColumn, type PackedColumn } from './column.ts'
import type { Docs } from './docs.ts'
import type { Runs } from './runs.ts'
import { createScratch, type Scratch } from './scratch.ts'
import type { Terms } from './terms.ts'

const columns = [
  'names',
  'brandNames',
  'countries',
  'covered',
  'regions',
  'subTypes',
  'categories',
  'durations',
  'amounts',
  'bands',
] as const
type ColumnName = (typeof columns)[number]

interface BrandNames {
  readonly brand: string
  readonly brandName: string
}

/**
 * Everything needed to find offers of one kind, as it goes from the process that makes it to the one
 * that answers: arrays of numbers, which are ready as soon as their bytes have come.
 */
export interface PackedIndex extends Readonly<Record<ColumnName, PackedColumn>> {
  /** The row of each doc, by which its record and its finished JSON are found. */
  readonly rows: Uint32Array
  /** Multi-country eSIM plans. */
  readonly multiCountry: Docs
  /** What each combination in `names` says, a brand: as JSON, since it is seldom asked for. */
  readonly brandsJson: Uint8Array
  /** The docs of each of them. */
  readonly ofBrand: Runs
  /** The words of `brandName`, each with the brands that have it, as combinations in `names`. */
  readonly brandWords: Terms
  /** Likewise the brand's names in the forms that a whole text is compared with. */
  readonly nameForms: Terms
  readonly words: Terms
  /** The bounds of each doc's face value in USD, or of its price where that has no rate; NaN without either. */
  readonly faceUsd: { readonly min: Float64Array; readonly max: Float64Array }
  /**
   * All docs by their least face value in USD, lowest and highest first, and by their greatest, highest
   * first; equal ones in the published order, unknown ones last.
   */
  readonly byFaceUsd: {
    readonly low: Uint32Array
    readonly high: Uint32Array
    readonly most: Uint32Array
  }
}

/** A number of each doc, NaN where it has none, with all docs in order: equal ones as published, unknown ones last. */
export interface Sorted {
  readonly values: Float64Array
  readonly low: Uint32Array
  readonly high: Uint32Array
}

/** What questions look at besides. They find only what is sold, so nothing else is packed with it. */
export interface PackedSoldIndex extends PackedIndex {
  /** What each face value is found by: "EUR 25". */
  readonly faces: PackedColumn
  /** The bounds of each face value in its own currency, in major units. */
  readonly face: { readonly min: Float64Array; readonly max: Float64Array }
  /** The least that a purchase costs in USDC, and the place of each doc in `low`. */
  readonly usdc: Sorted & { readonly ranks: Uint32Array }
  /** Infinite where unlimited. */
  readonly dataGb: Omit<Sorted, 'low'>
  readonly days: Sorted
}

/**
 * Docs are places in the published order: brandName, price, offerId (docs/contributors/decisions/017). Made once
 * for a catalog and never changed.
 */
export interface SearchIndex
  extends Omit<PackedIndex, ColumnName>,
    Readonly<Record<ColumnName, Column>> {
  readonly size: number
  readonly all: Docs
  readonly ready: ReadyJson
  readonly scratch: Scratch
  brands(): readonly BrandNames[]
  offerAt(doc: number): Offer
  /** Those of a page: sooner read together than one by one. */
  offersAt(docs: Docs): Offer[]
}

export interface SoldIndex extends SearchIndex, Omit<PackedSoldIndex, keyof PackedIndex | 'faces'> {
  readonly faces: Column
}

function allDocs(size: number): Docs {
  const docs = new Uint32Array(size)
  for (let doc = 0; doc < size; doc++) docs[doc] = doc
  return docs
}

export function openIndex(
  packed: PackedIndex,
  ready: ReadyJson,
  records: OfferRecords,
): SearchIndex {
  const size = packed.rows.length
  const opened = Object.fromEntries(columns.map((name) => [name, openColumn(packed[name])]))
  return {
    ...packed,
    ...(opened as Record<ColumnName, Column>),
    size,
    all: allDocs(size),
    ready,
    scratch: createScratch(size, opened['names']?.valuesOf.starts.length ?? 0),
    brands: () => JSON.parse(Buffer.from(packed.brandsJson).toString()),
    offerAt: (doc) => offerAt(records, packed.rows[doc] as number),
    offersAt: (docs) =>
      offersAt(
        records,
        docs.map((doc) => packed.rows[doc] as number),
      ),
  }
}

export function openSoldIndex(
  packed: PackedSoldIndex,
  ready: ReadyJson,
  records: OfferRecords,
): SoldIndex {
  const { faces, face, usdc, dataGb, days } = packed
  const index = openIndex(packed, ready, records)
  return { ...index, faces: openColumn(faces), face, usdc, dataGb, days }
}
