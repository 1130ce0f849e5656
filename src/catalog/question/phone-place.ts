import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import built from '../../../build/phone-operators.json' with { type: 'json' }

const written = /(?:tel:\s*)?(?:\(?\+|(?<!\d)00)\s*\(?\d[\d\s().-]{4,18}\d/i
/** An international number without its `+`; ICCIDs are longer. */
const unsigned = /(?<![\d.,+])[1-9]\d{10,13}(?![\d.,])/
const bare = /(?<![\d.,])\(?0?\d[\d\s().-]{6,15}\d(?![\d.,])/
/** The number of an eSIM, which begins with the code of telecommunication. */
const iccid = /(?:iccid:?\s*)?(?<![\d+])89(?:[ -]?\d){16,18}(?!\d)/i

/** A part of a text. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A phone number in a text, and where it is from. */
export interface PhonePlace extends Span {
  /** Undefined if no country has such a number. */
  readonly country: string | undefined
  /** The likely operator of the line. */
  readonly operator: string | undefined
  /** Whether a number like this is assigned, as far as the library knows. */
  readonly isValid: boolean
}

/** @param country the country of a number without a calling code; undefined if there is none to assume */
export function readPhonePlace(text: string, country: string | undefined): PhonePlace | undefined {
  const match = written.exec(text) ?? (country === undefined ? null : bare.exec(text))
  if (match === null) return unsignedPlace(text)
  const isWhole = written.test(match[0])
  const number = isWhole ? withoutAmount(match[0]) : match[0]
  const digits = digitsOf(number)
  const phone = isWhole
    ? parsePhoneNumberFromString(`+${digits}`)
    : parsePhoneNumberFromString(number, country as CountryCode)
  return {
    from: match.index,
    to: match.index + number.length,
    country: isWhole ? countryOf(digits, phone) : country,
    operator: phone && likelyOperator(phone),
    isValid: phone?.isValid() ?? false,
  }
}

/** What may be a phone number without the code of its country. */
export function bareNumberIn(text: string): Span | undefined {
  const match = bare.exec(text)
  if (match === null || match[0].replace(/\D/g, '').length < 9) return undefined
  return { from: match.index, to: match.index + match[0].length }
}

export function iccidIn(text: string): Span | undefined {
  const match = iccid.exec(text)
  return match === null ? undefined : { from: match.index, to: match.index + match[0].length }
}

/** Without the last groups of digits if only what is before them is a number: "+49 151 23456789 20". */
function withoutAmount(number: string): string {
  for (let text = number; text !== ''; text = text.replace(/\s*\S+$/, '')) {
    if (parsePhoneNumberFromString(`+${digitsOf(text)}`)?.isValid()) return text
  }
  return number
}

/** The digits of an international number, without the zeros that stand for its `+`. */
function digitsOf(number: string): string {
  return number.replace(/\D/g, '').replace(/^00/, '')
}

function unsignedPlace(text: string): PhonePlace | undefined {
  const match = unsigned.exec(text)
  if (match === null) return undefined
  const phone = parsePhoneNumberFromString(`+${match[0]}`)
  if (!phone?.isValid()) return undefined
  return {
    from: match.index,
    to: match.index + match[0].length,
    country: phone.country,
    operator: likelyOperator(phone),
    isValid: true,
  }
}

/** The country of a number. It need not be assigned: the numbering plan may be newer than the library. */
function countryOf(digits: string, phone: PhoneNumber | undefined): string | undefined {
  if (phone?.country !== undefined) return phone.country
  if (digits.startsWith('1'))
    return parsePhoneNumberFromString(`+${digits.slice(0, 4)}2345678`)?.country
  return getCountries().find((code) => {
    const calling = getCountryCallingCode(code)
    return calling !== '1' && calling !== '7' && digits.startsWith(calling)
  })
}

/**
 * For each calling code, which operator the numbers that begin with some digits were assigned to. `npm run prepare` makes
 * it of the metadata of libphonenumber. A name is empty if hardly anybody knows it.
 */
const operators: Readonly<Record<string, Readonly<Record<string, string>>>> = built

/** A number by its calling code and the digits after that. */
interface DialledNumber {
  readonly countryCallingCode: string
  readonly nationalNumber: string
}

/**
 * The operator that a number was first assigned to. In many countries people take their numbers to another operator, so
 * it is only likely. Undefined where numbers do not tell, as in North America.
 */
export function likelyOperator({
  countryCallingCode,
  nationalNumber,
}: DialledNumber): string | undefined {
  const names = operators[countryCallingCode] ?? {}
  for (let size = nationalNumber.length; size > 0; size--) {
    const name = names[nationalNumber.slice(0, size)]
    if (name !== undefined) return name || undefined
  }
  return undefined
}
