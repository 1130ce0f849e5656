import { distance } from 'fastest-levenshtein'

/** The field of a purchase that was probably meant by a name that is none. */
export function fieldMeantBy(
  name: string,
  known: readonly string[],
  otherNames: Readonly<Record<string, readonly string[]>> = {},
): string | undefined {
  const lower = name.toLowerCase()
  const near = known.find((field) => distance(field.toLowerCase(), lower) <= 2)
  return (
    near ?? known.find((field) => otherNames[field]?.some((other) => other.toLowerCase() === lower))
  )
}

/**
 * What was probably meant by a value that a field cannot have: "$25" is 25, a phone number without
 * plus has one, a country's name is its code. Nothing is bought by such a guess; it is only told.
 *
 * @param read how what is wrong may be read; undefined where nothing likely is left
 * @param country where the offer's line is, for phone numbers without a calling code
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

/** Beyond 2^53 a JSON number has lost digits: what it would read as is nobody's. */
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
