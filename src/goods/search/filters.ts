import { wordsOf } from '../../primitives/text.ts'
import { docsWith } from './column.ts'
import { type Docs, intersect, unite } from './docs.ts'
import type { SearchIndex } from './search-index.ts'
import { startingWith } from './terms.ts'
import { nearOrExact } from './text.ts'

/** What an offer must be to be found. All of them hold together (decisions 2). */
export interface Filters {
  /** Only what can be bought now. */
  readonly sold?: boolean | undefined
  /** A brand, operator or provider: the whole name or the beginnings of its words. */
  readonly brand?: string | undefined
  /** Free text. It decides the order of the result too. */
  readonly text?: string | undefined
  /** The offer's own country. */
  readonly country?: string | undefined
  readonly subType?: string | undefined
  /** At least one of these. */
  readonly regions?: readonly string[] | undefined
  readonly multiCountry?: boolean | undefined
  /** Every one of these countries. */
  readonly covers?: readonly string[] | undefined
  readonly durationDays?: number | undefined
  /** Face value in USD: a fixed one lies within, an open one meets it (decisions 3). */
  readonly minUsd?: number | undefined
  readonly maxUsd?: number | undefined
}

/** Money compared after a conversion may differ in its last digits. */
const tolerance = 1e-6

/** The offers that meet all filters, in the published order, whatever the text. */
export function matching(index: SearchIndex, filters: Filters): Docs {
  const [first, ...rest] = listsFor(index, filters).sort((one, other) => one.length - other.length)
  const docs = rest.reduce(intersect, first ?? index.all)
  return withFaceValue(index, filters, docs)
}

/** The `brand` and `operator` rule (decisions 2): "ama" finds "Amazon", "mazon" finds nothing. */
function ofBrand(index: SearchIndex, value: string): Docs {
  const size = index.offers.length
  const words = wordsOf(value).map((word) => startingWith(index.brandWords, word, size))
  const byWords = words.length === 0 ? [] : [words.reduce(intersect)]
  return unite([docsWith(index.names, value), ...byWords], size)
}

function listsFor(index: SearchIndex, filters: Filters): Docs[] {
  const { brand, text, country, subType, regions, covers, durationDays } = filters
  const size = index.offers.length
  return [
    filters.sold ? index.sold : index.all,
    ...(filters.multiCountry ? [index.multiCountry] : []),
    ...(brand === undefined ? [] : [ofBrand(index, brand)]),
    ...(text === undefined ? [] : [nearOrExact(index, text)]),
    ...(country === undefined ? [] : [docsWith(index.countries, country)]),
    ...(subType === undefined ? [] : [docsWith(index.subTypes, subType)]),
    ...(regions
      ? [
          unite(
            regions.map((name) => docsWith(index.regions, name)),
            size,
          ),
        ]
      : []),
    ...(covers ?? []).map((code) => docsWith(index.covered, code)),
    ...(durationDays === undefined ? [] : [docsWith(index.durations, String(durationDays))]),
  ]
}

function withFaceValue(index: SearchIndex, { minUsd, maxUsd }: Filters, docs: Docs): Docs {
  if (minUsd === undefined && maxUsd === undefined) return docs
  const atLeast = (minUsd ?? 0) - tolerance
  const atMost = (maxUsd ?? Number.POSITIVE_INFINITY) + tolerance
  const { min, max } = index.faceUsd
  return docs.filter(
    (doc) => (max[doc] ?? Number.NaN) >= atLeast && (min[doc] ?? Number.NaN) <= atMost,
  )
}
