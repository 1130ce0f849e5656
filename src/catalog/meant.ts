import { distance } from 'fastest-levenshtein'

/** The field of a purchase that was probably meant by an unknown name. */
export function fieldMeantBy(
  name: string,
  known: readonly string[],
  otherNames: Readonly<Record<string, readonly string[]>> = {},
): string | undefined {
  const lower = name.toLowerCase()
  const near = known.find(
    (field) =>
      Math.abs(field.length - lower.length) <= 2 && distance(field.toLowerCase(), lower) <= 2,
  )
  return (
    near ?? known.find((field) => otherNames[field]?.some((other) => other.toLowerCase() === lower))
  )
}

/**
 * What was probably meant by a value that a field cannot have: for "$25" 25, for a phone number without its plus
 * the one with it, for a country's name its code. The guess is only told; nothing is bought by it.
 *
 * @param read guesses the value from the text; undefined if the field has no such guess
 * @param country the offer's, for phone numbers without a calling code
 */
export function valueMeantBy(
  given: unknown,
  read: ((text: string, country?: string) => string | number | undefined) | undefined,
  country?: string,
): string | number | undefined {
  if (typeof given !== 'string' && !isExact(given)) return undefined
  const meant = read?.(String(given), country)
  return meant === given ? undefined : meant
}

/** Beyond 2^53 a JSON number has lost digits, so no guess is made from it. */
function isExact(given: unknown): given is number {
  return typeof given === 'number' && Math.abs(given) <= Number.MAX_SAFE_INTEGER
}

/** The amount in a text such as "$25", "25 USD" or "1,000.50"; undefined when there is not just one. */
export function dollarsMeantBy(text: string): number | undefined {
  const bare = text
    .replace(/usdc?|us\$|dollars?|bucks|\$/gi, '')
    .trim()
    .replace(/,(?=\d{3}(\D|$))/g, '')
    .replace(/,(?=\d{1,2}$)/, '.')
  return /^\d{1,9}(\.\d{1,2})?$/.test(bare) ? Number(bare) : undefined
}
