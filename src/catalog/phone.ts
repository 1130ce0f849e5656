import {
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'

/** Line types that a carrier may know as mobile; in North America the two cannot be told apart. */
const mobileTypes: ReadonlySet<string> = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE'])

/**
 * Calling codes of countries whose numbers tell them apart: +1 of North America and the Caribbean, +7
 * of Russia and Kazakhstan. Others are shared by territories of one network: +44 7911 is Guernsey's.
 */
const tellingCodes: ReadonlySet<string> = new Set(['1', '7'])

/** How a phone number is written, in words that people and agents both read. */
export const phoneForm =
  'must be written with + and the country calling code, then the digits (E.164), such as +5355564362'

/** How each thing that may be wrong with a number is said, from the first word on. */
export const phoneFaults = {
  form: phoneForm,
  impossible: 'is not a possible phone number',
  otherCode: 'has the calling code',
  otherCountry: 'is a number of',
  notMobile: 'is not a mobile number',
} as const

/** E.164 (ITU-T), and what people put between its digits. */
export const phonePattern = /^\+[1-9](?:[ ().-]{0,2}\d){6,14}$/

export type PhoneRead =
  | {
      /** The number as it is understood, in E.164 form. */
      readonly number: string
      /** Whether the numbering plan that is known has such a number. Plans change before libraries do. */
      readonly isValid: boolean
    }
  | { readonly fault: string }

/**
 * The number that a text names, for a topup in this country, or what is wrong with it. Whether the
 * carrier takes it, only it can tell.
 */
export function readPhone(text: string, country: string): PhoneRead {
  if (!phonePattern.test(text)) return { fault: phoneFaults.form }
  const phone = parsePhoneNumberFromString(text)
  if (!phone?.isPossible()) return { fault: phoneFaults.impossible }
  const isValid = phone.isValid()
  if (!isSupportedCountry(country)) return { number: phone.number, isValid }
  const { countryCallingCode: code, country: own } = phone
  const wanted = getCountryCallingCode(country)
  if (code !== wanted) {
    const { otherCode } = phoneFaults
    return { fault: `${otherCode} +${code}; this offer is for ${country}, +${wanted}` }
  }
  if (tellingCodes.has(code) && own !== undefined && own !== country) {
    return { fault: `${phoneFaults.otherCountry} ${own}; this offer is for ${country}` }
  }
  const type = phone.getType()
  if (type !== undefined && !mobileTypes.has(type)) return { fault: phoneFaults.notMobile }
  return { number: phone.number, isValid }
}

/**
 * The number in E.164 form that was probably meant by a text that is none: without its plus, as it is
 * dialled within the country, or as Mexican mobile numbers were written until 2019.
 */
export function phoneMeantBy(text: string, country?: string): string | undefined {
  const digits = text.replace(/\D/g, '').replace(/^00/, '')
  const national =
    country !== undefined && isSupportedCountry(country)
      ? parsePhoneNumberFromString(text, country)?.number
      : undefined
  const mexican = digits.replace(/^521(?=\d{10}$)/, '52')
  return [`+${digits}`, national, `+${mexican}`].find(
    (number) => number !== undefined && fits(number, country),
  )
}

function fits(number: string, country: string | undefined): boolean {
  if (country === undefined) return parsePhoneNumberFromString(number)?.isValid() ?? false
  const read = readPhone(number, country)
  return 'number' in read && read.isValid
}

/** The calling code of a country, "502", or undefined where it has no plan of numbers. */
export function callingCodeOf(country: string): string | undefined {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : undefined
}
