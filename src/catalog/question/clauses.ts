import type { Kind } from '../offer.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import type { Filters } from '../search/filters.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { Asked, Value } from './asked.ts'
import type { Reading } from './reading.ts'
import type { Category } from './vocabulary.ts'

/** The filters for offers of this kind; undefined if it has none of the brand. */
export function filtersFor(index: SearchIndex, kind: Kind, asked: Asked): Filters | undefined {
  const { reading, words, value } = asked
  const goods = goodsFilters(index, kind, reading)
  if (goods === undefined) return undefined
  return {
    ...goods,
    words,
    any: value && worth(index, value),
    ...placeFilters(kind, asked),
    ...bounds(kind, asked),
  }
}

/** The condition on goods: of the brand, or for what a card is used for, or any. */
function goodsFilters(index: SearchIndex, kind: Kind, reading: Reading): Filters | undefined {
  const brandKeys = reading.brands?.[kind]
  if (brandKeys !== undefined) return brandKeys.length === 0 ? undefined : { brandKeys }
  const isUse = reading.category !== undefined && kind === 'voucher'
  const { tests } = brandLexicon(index)
  return isUse
    ? { none: [{ none: usedFor(index, reading.category) }] }
    : { none: [{ brandKeys: tests }] }
}

/** A plan must work in every country that is named; a card or a line must be from one of them. */
function placeFilters(kind: Kind, { countries, regions }: Asked): Filters {
  if (kind === 'esim') return { covers: countries }
  const all = [...countries, ...regions.flat()]
  return all.length === 0 ? {} : { countries: all }
}

/** In gigabytes: any data at all. */
const leastData = 0.001

function bounds(
  kind: Kind,
  { minDataGb, minDays, maxDays, minUsdc, maxUsdc, wantsData }: Asked,
): Filters {
  // Vouchers have neither data nor days: the months of a subscription are no filter.
  if (kind === 'voucher') return { minUsdc, maxUsdc }
  const data = minDataGb ?? (wantsData ? leastData : undefined)
  return { minDataGb: data, minDays, maxDays, minUsdc, maxUsdc }
}

function usedFor(index: SearchIndex, { subTypes, texts }: Category): Filters[] {
  const by = texts.map((exactText): Filters => ({ exactText }))
  // Sub-types are wider than uses: games and cinemas share one.
  return index.count({ any: by }) > 0 ? by : subTypes.map((subType): Filters => ({ subType }))
}

/** Offers with this face value, and those whose buyer can choose it. */
function worth(
  index: SearchIndex,
  { amount: faceValue, currencies, isInDollars }: Value,
): Filters[] {
  const wanted = currencies ?? index.values('currency')
  const own = wanted.map((currency): Filters => ({ currency, faceValue }))
  return faceValue !== undefined && isInDollars
    ? [...own, { amount: 'open', minUsd: faceValue, maxUsd: faceValue }]
    : own
}
