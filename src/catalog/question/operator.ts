import { foldedWords } from '../../lib/text.ts'
import type { Offer } from '../offer.ts'
import { brandLexicon } from '../search/brand-lexicon.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { phraseOf } from '../search/words.ts'
import { readPhonePlace } from './phone-place.ts'

/** A brand of "Orange Mali" may be called Orange in every country. */
export function operatorBrands(
  index: SearchIndex,
  operator: string,
): readonly string[] | undefined {
  const { whole } = brandLexicon(index)
  return whole.get(phraseOf(operator)) ?? whole.get(foldedWords(operator)[0] ?? '')
}

/**
 * The operator that the number was first assigned to, if the topup is of another one. People take their numbers
 * along, so this warns and refuses nothing.
 */
export function otherOperator(
  index: SearchIndex,
  { brand, brandName, country }: Pick<Offer, 'brand' | 'brandName' | 'country'>,
  number: string,
): string | undefined {
  const operator = readPhonePlace(number, country)?.operator
  if (operator === undefined || operatorBrands(index, operator)?.includes(brand)) return undefined
  return foldedWords(operator)[0] === foldedWords(brandName)[0] ? undefined : operator
}
