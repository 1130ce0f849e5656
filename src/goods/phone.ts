import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'

/** Line types that a carrier may know as mobile; in North America the two cannot be told apart. */
const mobileTypes: ReadonlySet<string> = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE'])

/** How a phone number is written, in words that people and agents both read. */
export const phoneForm =
  'must be written with + and the country calling code, then digits only (E.164), such as +5355564362'

/**
 * What is wrong with a phone number for a topup in this country, or undefined when nothing is.
 *
 * The calling code is compared and not the country, because some countries share one: +44 7911 is
 * Guernsey's, +1 twenty countries' (suppliers D). Whether the carrier takes it, only it can tell.
 */
export function phoneFault(msisdn: string, country: string): string | undefined {
  if (!/^\+[1-9]\d{6,14}$/.test(msisdn)) return phoneForm
  const phone = parsePhoneNumberFromString(msisdn)
  if (!phone?.isPossible()) return 'is not a possible phone number'
  if (!isSupportedCountry(country)) return undefined
  const callingCode = getCountryCallingCode(country as CountryCode)
  if (phone.countryCallingCode !== callingCode) {
    return `has the calling code +${phone.countryCallingCode}; this offer is for ${country}, +${callingCode}`
  }
  const type = phone.getType()
  if (type !== undefined && !mobileTypes.has(type)) return 'is not a mobile number'
  return undefined
}

/**
 * The number in E.164 form that was probably meant by a text that is none: without its plus, with
 * blanks or brackets, or as it is dialled within the country.
 */
export function phoneMeantBy(text: string, country?: string): string | undefined {
  const digits = text.replace(/\D/g, '').replace(/^00/, '')
  const national =
    country !== undefined && isSupportedCountry(country)
      ? parsePhoneNumberFromString(text, country)?.number
      : undefined
  return [`+${digits}`, national].find((number) => number !== undefined && fits(number, country))
}

function fits(number: string, country: string | undefined): boolean {
  if (country !== undefined) return phoneFault(number, country) === undefined
  return parsePhoneNumberFromString(number)?.isValid() ?? false
}

/** The calling code of a country, "502", or undefined where it has no plan of numbers. */
export function callingCodeOf(country: string): string | undefined {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : undefined
}
