import { distance } from 'fastest-levenshtein'
import * as z from 'zod'
import { countryMeantBy } from './countries.ts'
import { phoneMeantBy } from './phone.ts'

/** What people and models call the fields of a purchase. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  offerId: ['id', 'offer', 'offer_id', 'product', 'productId', 'product_id', 'sku'],
  msisdn: ['phone', 'phoneNumber', 'phone_number', 'number', 'mobile', 'recipientPhone', 'to'],
  value: ['amount', 'price', 'faceValue', 'face_value', 'denomination', 'usd'],
  firstName: ['first', 'first_name', 'givenName', 'given_name', 'forename'],
  lastName: ['last', 'last_name', 'surname', 'familyName', 'family_name'],
  email: ['mail', 'emailAddress', 'email_address', 'recipientEmail', 'recipient_email'],
  country: ['countryCode', 'country_code', 'iso'],
  iccid: ['sim', 'simId', 'esim', 'esimId'],
}

/** The field of a purchase that was probably meant by a name that is none. */
export function fieldMeantBy(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  const near = known.find((field) => distance(field.toLowerCase(), lower) <= 2)
  return (
    near ?? known.find((field) => otherNames[field]?.some((other) => other.toLowerCase() === lower))
  )
}

/** How what is wrong in a field may be read; undefined where nothing likely is left. */
const readings: Readonly<
  Record<string, (text: string, country?: string) => string | number | undefined>
> = {
  value: dollarsMeantBy,
  msisdn: phoneMeantBy,
  country: countryMeantBy,
  iccid: (text) => matching(/^89\d{17,18}$/, text.replace(/[\s-]/g, '')),
  email: (text) => z.email().safeParse(text.trim()).data,
}

/**
 * What was probably meant by a value that a field cannot have: "$25" is 25, a phone number without
 * plus has one, a country's name is its code. Nothing is bought by such a guess; it is only told.
 *
 * @param country where the offer's line is, for phone numbers without a calling code
 */
export function valueMeantBy(
  field: string,
  given: unknown,
  country?: string,
): string | number | undefined {
  if (typeof given !== 'string' && !isExact(given)) return undefined
  const meant = readings[field]?.(String(given), country)
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

function matching(pattern: RegExp, text: string): string | undefined {
  return pattern.test(text) ? text : undefined
}
