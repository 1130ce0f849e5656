import { countryName } from '../countries.ts'
import { goods } from '../good.ts'
import type { RateTable } from '../ports.ts'
import { addDocs, docsIn } from '../search/bits.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import { countsAmong, docsWith, placeIn } from '../search/column.ts'
import type { Hint } from '../search/hint.ts'
import { coverableOf } from '../search/nearest.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { docsOfBrands } from '../search/text.ts'
import type { Question } from './asked.ts'
import { type Found, findFor } from './find.ts'
import type { Indexes } from './reading.ts'

/** So many countries a hint lists at most. */
const maxListed = 12

interface Unanswered {
  readonly indexes: Indexes
  readonly question: Question
  readonly found: Found
  readonly rates: RateTable | undefined
}

/** Explains why a question finds nothing, with a value only where the same goods are near. */
export function questionHint(unanswered: Unanswered): Hint {
  const { asked, leftOut } = unanswered.found
  const [kind] = asked.kinds
  const noun = asked.kinds.length === 1 && kind !== undefined ? goods[kind].plural : 'offers'
  const near =
    brandHint(unanswered, noun) ?? coverageHint(unanswered) ?? budgetHint(unanswered, noun)
  if (near !== undefined) return near
  const place = placeHint(unanswered, noun)
  if (place !== undefined) return place
  const words = leftOut.map((word) => `"${word}"`).join(', ')
  return { message: words === '' ? `No ${noun} meet all of that.` : `No ${noun} have ${words}.` }
}

/** The countries that one plan does cover, of several. */
function coverageHint({ indexes, found: { asked } }: Unanswered): Hint | undefined {
  const { countries, kinds } = asked
  if (!kinds.includes('esim') || countries.length < 2) return undefined
  const coverable = coverableOf(indexes.esim, countries, indexes.esim.all)
  const message = `No one plan covers ${countries.map(countryName).join(', ')} as asked.`
  if (coverable.length === 0 || coverable.length === countries.length) return { message }
  const names = coverable.map(countryName).join(', ')
  return {
    parameter: 'covers',
    nearest: coverable.join(','),
    message: `${message} Some cover ${names}.`,
  }
}

/** Says so where nothing at all is sold for a place. */
function placeHint({ indexes, found: { asked } }: Unanswered, noun: string): Hint | undefined {
  const [code, ...others] = asked.countries
  if (code === undefined || others.length > 0) return undefined
  const isServed = asked.kinds.some((kind) => {
    const { countries, covered } = indexes[kind]
    return docsWith(countries, code).length > 0 || placeIn(covered, code) !== undefined
  })
  return isServed ? undefined : { message: `No ${noun} are for ${countryName(code)}.` }
}

/** What the cheapest costs, where all cost more than was allowed. */
function budgetHint(
  { indexes, question, found: { asked }, rates }: Unanswered,
  noun: string,
): Hint | undefined {
  if (asked.maxUsdc === undefined) return undefined
  const dearer = findFor(indexes, { ...question, maxUsdc: Number.MAX_SAFE_INTEGER }, rates, 1)
  const [first] = dearer.kinds
  const price = first && indexes[first.kind].usdc.values[first.docs[0] as number]
  if (price === undefined) return undefined
  const nearest = price.toFixed(2)
  const message = `No ${noun} cost so little. The cheapest costs ${nearest} USDC.`
  return { parameter: 'maxUsdc', nearest, message }
}

/** Where goods of the brand are sold, when they are not sold where they were asked for. */
function brandHint({ indexes, found: { asked } }: Unanswered, noun: string): Hint | undefined {
  const { reading, countries, kinds } = asked
  const brands = reading.brands
  if (brands === undefined || countries.length === 0) return undefined
  for (const kind of kinds) {
    const index = indexes[kind]
    const name = brandLexicon(index).nameOf(brands[kind][0] ?? -1)
    const docs = docsOfBrand(index, brands[kind])
    const found = countsAmong(index.countries, docs).map(([code]) => code)
    const [nearest] = found
    if (nearest === undefined || found.some((code) => countries.includes(code))) continue
    const more = found.length > maxListed ? ', …' : ''
    const list = `${found.slice(0, maxListed).join(', ')}${more}`
    return {
      parameter: 'country',
      nearest,
      message: `No ${noun} of ${name} are for ${countries.map(countryName).join(', ')}. ${name} is sold for: ${list}. A card of another country may not work.`,
    }
  }
  return undefined
}

function docsOfBrand(index: SearchIndex, codes: readonly number[]) {
  index.scratch.begin()
  const brands = index.scratch.brandBits()
  for (const code of codes) addDocs(brands, Uint32Array.of(code))
  const docs = index.scratch.docs()
  return docs.slice(0, docsIn(docsOfBrands(index, brands), docs))
}
