import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import type { FaultReason } from '../lib/refusal.ts'

/** Line types that a carrier may know as mobile; in North America the two cannot be told apart. */
const mobileTypes: ReadonlySet<string> = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE'])

/**
 * Calling codes of countries whose numbers tell them apart: +1 of North America and the Caribbean, +7
 * of Russia and Kazakhstan. Others are shared by territories of one network: +44 7911 is Guernsey's.
 */
const tellingCodes: ReadonlySet<string> = new Set(['1', '7'])

/** E.164 (ITU-T), and what people put between its digits. */
export const phonePattern = /^\+[1-9](?:[ ().-]{0,2}\d){6,14}$/

/** Unchanged if it is no number. "(0)" stays for `readPhone` to report: it is dialled only within a country. */
export function barePhone(input: string): string {
  const text = input.trim()
  if (phonePattern.test(text) || text.includes('(0)')) return text
  const bare = text.replace(/[\s().-]/g, '')
  return phonePattern.test(bare) ? bare : text
}

export function numberIn(text: string): string | undefined {
  return possibleIn(text)?.number
}

/** The number of a line that the known numbering plans have, in E.164 form; of any country and any type. */
export function numberInUse(text: string): string | undefined {
  const phone = possibleIn(text)
  return phone?.isValid() ? phone.number : undefined
}

export type PhoneRead =
  | {
      readonly number: string
      /** Whether the known numbering plan has such a number. Plans change before the library does. */
      readonly isValid: boolean
    }
  | { readonly fault: FaultReason }

/** Only the carrier can tell whether it accepts the number. */
export function readPhone(text: string, country: string): PhoneRead {
  if (!phonePattern.test(text)) return { fault: { code: 'malformed' } }
  const phone = possibleIn(text)
  if (!phone) return { fault: { code: 'impossible_number' } }
  const isValid = phone.isValid()
  if (!isSupportedCountry(country)) return { number: phone.number, isValid }
  const { countryCallingCode: code, country: own } = phone
  const callingCode = getCountryCallingCode(country)
  if (code !== callingCode) {
    return { fault: { code: 'other_calling_code', found: code, country, wanted: callingCode } }
  }
  if (tellingCodes.has(code) && own !== undefined && own !== country) {
    return { fault: { code: 'other_country', found: own, country } }
  }
  const type = phone.getType()
  if (type !== undefined && !mobileTypes.has(type)) return { fault: { code: 'not_mobile' } }
  return { number: phone.number, isValid }
}

function possibleIn(text: string) {
  const phone = phonePattern.test(text) ? parsePhoneNumberFromString(text) : undefined
  return phone?.isPossible() ? phone : undefined
}

/** Of a text without its plus, as dialled within the country, or as Mexican mobile numbers were until 2019. */
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

/** Every number that a text without a country may mean: as dialled from abroad, or within any country. */
export function numbersMeantBy(text: string): readonly string[] {
  const bare = barePhone(text)
  const meant = numberIn(bare) ?? phoneMeantBy(text)
  if (bare.startsWith('+')) return meant === undefined ? [] : [meant]
  const national = getCountries().flatMap((country) => {
    const phone = parsePhoneNumberFromString(text, country)
    return phone?.isValid() ? phone.number : []
  })
  return [...new Set([meant ?? [], national].flat())]
}

function fits(number: string, country: string | undefined): boolean {
  if (country === undefined) return parsePhoneNumberFromString(number)?.isValid() ?? false
  const phone = readPhone(number, country)
  return 'number' in phone && phone.isValid
}

export function callingCodeOf(country: string): string | undefined {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : undefined
}

/** A number of the right form. The few territories without a numbering plan get a neutral one. */
export function exampleNumber(country: string | undefined): string {
  return getExampleNumber(country as CountryCode, examples)?.number ?? '+5355564362'
}

export function speltNumber(number: string): string {
  return parsePhoneNumberFromString(number)?.formatInternational() ?? number
}
