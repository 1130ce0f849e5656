import type { Offer } from '../offer.ts'
import { type OfferRecords, offerAt, offersAt } from '../offer-records.ts'
import type { ReadyJson } from '../ready-json.ts'
import { type Column, openColumn, type PackedColumn } from './column.ts'
import type { Docs } from './docs.ts'
import { createPairs, type Pairs } from './pairs.ts'
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

export interface BrandNames {
  readonly brand: string
  readonly brandName: string
}

/**
 * Everything needed to find offers of one kind, as the process that builds it sends it to the one that answers:
 * arrays of numbers, which can be used as soon as their bytes have arrived.
 */
export interface PackedIndex extends Readonly<Record<ColumnName, PackedColumn>> {
  /** The row of each doc, by which its record and its finished JSON are found. */
  readonly rows: Uint32Array
  /** Multi-country eSIM plans. */
  readonly multiCountry: Docs
  /** The brand of each combination in `names`, as JSON, because it is seldom needed. */
  readonly brandsJson: Uint8Array
  /** The docs of each brand. */
  readonly ofBrand: Runs
  /** The words of `brandName`, each with the brands that have it. */
  readonly brandWords: Terms
  /** Likewise the names of brands in the forms that a whole text is compared with. */
  readonly nameForms: Terms
  readonly words: Terms
  /** The bounds of each doc's face value in USD, or of its price if the face value has no rate; NaN without either. */
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

/** A number for each doc (NaN if unknown), and all docs sorted by it: equal ones as published, unknown ones last. */
export interface Sorted {
  readonly values: Float64Array
  readonly low: Uint32Array
  readonly high: Uint32Array
}

/** What questions need besides. They find only sold offers, so only the index of those has it. */
export interface PackedSoldIndex extends PackedIndex {
  /** The key of each face value (`faceKeyOf`). */
  readonly faces: PackedColumn
  /** The bounds of each face value in its own currency, in major units. */
  readonly face: { readonly min: Float64Array; readonly max: Float64Array }
  /** The lowest price in USDC, and the rank of each doc in `low`. */
  readonly usdc: Sorted & { readonly ranks: Uint32Array }
  /** Infinity if unlimited. */
  readonly dataGb: Omit<Sorted, 'low'>
  readonly days: Sorted
}

/**
 * Docs are positions in the published order: brandName, price, offerId (docs/contributors/decisions/017). An index is
 * made once for a catalog and never changes.
 */
export interface SearchIndex
  extends Omit<PackedIndex, ColumnName>,
    Readonly<Record<ColumnName, Column>> {
  readonly size: number
  readonly all: Docs
  readonly ready: ReadyJson
  readonly pairs: Pairs
  readonly scratch: Scratch
  brands(): readonly BrandNames[]
  offerAt(doc: number): Offer
  /** The offers of a page, which is faster than reading them one by one. */
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
    pairs: createPairs(),
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
