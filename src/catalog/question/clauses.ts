import type { Kind } from '../offer.ts'
import { addDocs, type Bits, countOf, createBits, unite } from '../search/bits.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import { type Column, docsAt, docsWith } from '../search/column.ts'
import { firstClause } from '../search/face-value-clauses.ts'
import { type Clause, setClause, valueClause } from '../search/filters.ts'
import type { SearchIndex, SoldIndex, Sorted } from '../search/search-index.ts'
import { addWord } from '../search/terms.ts'
import { docsOfBrands, textMatch } from '../search/text.ts'
import type { Asked, Value } from './asked.ts'
import { currenciesOf, currencyIn } from './currencies.ts'
import type { Reading } from './reading.ts'
import type { Category } from './vocabulary.ts'

/** The conditions for offers of this kind; undefined if it has none of the brand. */
export function clausesFor(index: SoldIndex, kind: Kind, asked: Asked): Clause[] | undefined {
  const { reading, words, value } = asked
  const goods = goodsClause(index, kind, reading)
  if (goods === undefined) return undefined
  const sets = words.map((word) => {
    const set = index.scratch.bits()
    addWord(index.words, word, set)
    return set
  })
  if (value !== undefined) sets.push(worth(index, value))
  return [
    goods,
    ...placeClauses(index, kind, asked),
    ...sets.map(clauseOf),
    ...bounds(index, kind, asked),
  ]
}

function clauseOf(set: Bits): Clause {
  return setClause('text', set, countOf(set))
}

/** The condition on goods: of the brand, or for what a card is used for, or any. */
function goodsClause(index: SearchIndex, kind: Kind, reading: Reading): Clause | undefined {
  const codes = reading.brands?.[kind]
  if (codes !== undefined) return codes.length === 0 ? undefined : clauseOf(ofBrands(index, codes))
  const isUse = reading.category !== undefined && kind === 'voucher'
  return isUse ? clauseOf(usedFor(index, reading.category)) : withoutTests(index)
}

function ofBrands(index: SearchIndex, codes: readonly number[]): Bits {
  const brands = index.scratch.brandBits()
  addDocs(brands, Uint32Array.from(codes).sort())
  return docsOfBrands(index, brands)
}

/** A plan must work in every country that is named; a card or a line must be from one of them. */
function placeClauses(index: SearchIndex, kind: Kind, { countries, regions }: Asked): Clause[] {
  if (kind === 'esim') {
    return countries.map((code) =>
      valueClause(index, 'covers', { column: index.covered, values: [code] }),
    )
  }
  const values = [...countries, ...regions.flat()]
  if (values.length === 0) return []
  return [valueClause(index, 'country', { column: index.countries, values })]
}

/** In gigabytes: any data at all. */
const leastData = 0.001

function bounds(
  index: SoldIndex,
  kind: Kind,
  { minDataGb, minDays, maxDays, minUsdc, maxUsdc, wantsData }: Asked,
): Clause[] {
  const { usdc, dataGb, days, scratch } = index
  const clauses: Clause[] = []
  const atLeast = ({ values, high }: Omit<Sorted, 'low'>, least: number | undefined) => {
    if (least === undefined) return
    const bound = {
      order: high,
      values,
      sign: -1,
      most: least === Number.POSITIVE_INFINITY ? -least : 1e-6 - least,
    } as const
    clauses.push(firstClause('minUsd', bound, scratch.bits))
  }
  const atMost = ({ values, low }: Omit<Sorted, 'high'>, most: number | undefined) => {
    if (most === undefined) return
    clauses.push(
      firstClause('maxUsd', { order: low, values, sign: 1, most: most + 1e-6 }, scratch.bits),
    )
  }
  // Vouchers have neither data nor days: the months of a subscription are no filter.
  if (kind !== 'voucher') {
    atLeast(dataGb, minDataGb ?? (wantsData ? leastData : undefined))
    atLeast(days, minDays)
    atMost(days, maxDays)
  }
  atLeast(usdc, minUsdc)
  atMost(usdc, maxUsdc)
  return clauses
}

const untested = new WeakMap<SearchIndex, Clause>()

/** All offers except those of test brands. The set is made once for an index. */
export function withoutTests(index: SearchIndex): Clause {
  const known = untested.get(index)
  if (known !== undefined) return known
  const tests = new Set(brandLexicon(index).tests)
  const docs = index.all.filter((doc) => !tests.has(index.names.codes[doc] as number))
  const set = createBits(index.size)
  addDocs(set, docs)
  const clause = setClause('text', set, docs.length)
  untested.set(index, clause)
  return clause
}

function usedFor(index: SearchIndex, { subTypes, texts }: Category): Bits {
  const set = index.scratch.bits()
  for (const text of texts) unite(set, textMatch(index, text).exact)
  if (set.from < set.to) return set
  // Sub-types are wider than uses: games and cinemas share one.
  for (const subType of subTypes) addDocs(set, docsWith(index.subTypes, subType))
  return set
}

/** Offers with this face value, and those whose buyer can choose it. */
function worth(index: SoldIndex, { amount, currencies, isInDollars }: Value): Bits {
  const { faces, face, faceUsd, scratch } = index
  const set = scratch.bits()
  const wanted = currencies ?? currenciesOf(faces)
  if (amount === undefined) return addAnyIn(set, faces, wanted)
  const addOpen = (currency: string, { min, max }: SoldIndex['face']) => {
    const open = docsWith(faces, currency).filter(
      (doc) => amount >= (min[doc] as number) && amount <= (max[doc] as number),
    )
    addDocs(set, open)
  }
  for (const currency of wanted) {
    addDocs(set, docsWith(faces, `${currency} ${amount}`))
    addOpen(currency, face)
  }
  if (isInDollars) for (const currency of currenciesOf(faces)) addOpen(currency, faceUsd)
  return set
}

function addAnyIn(set: Bits, faces: Column, currencies: readonly string[]): Bits {
  for (const [place, key] of faces.values.entries()) {
    if (currencies.includes(currencyIn(key))) addDocs(set, docsAt(faces, place))
  }
  return set
}
