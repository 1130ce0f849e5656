import {
  type CountryCode,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import built from '../../../build/phone-operators.json' with { type: 'json' }

const written = /(?:tel:\s*)?(?:\(?\+|(?<!\d)00)\s*\(?\d[\d\s().-]{4,18}\d/i
/** An international number without its `+`; ICCIDs are longer. */
const unsigned = /(?<![\d.,+])[1-9]\d{10,13}(?![\d.,])/
const bare = /(?<![\d.,])\(?0?\d[\d\s().-]{6,15}\d(?![\d.,])/
const iccid = /(?:iccid:?\s*)?(?<![\d+])89(?:[ -]?\d){16,18}(?!\d)/i

export interface Span {
  readonly from: number
  readonly to: number
}

export interface PhonePlace extends Span {
  /** Undefined if no country has such a number. */
  readonly country: string | undefined
  readonly operator: string | undefined
}

/** @param country the country of a number without a calling code; undefined if there is none to assume */
export function readPhonePlace(text: string, country: string | undefined): PhonePlace | undefined {
  const whole = written.exec(text)
  if (whole !== null) {
    const number = withoutAmount(whole[0])
    return placeAt(whole.index, number, international(number))
  }
  const local = country === undefined ? null : bare.exec(text)
  const match = local ?? unsigned.exec(text)
  if (match === null) return undefined
  const [number] = match
  const phone = local
    ? parsePhoneNumberFromString(number, country as CountryCode)
    : international(number)
  // A number that is written as one is taken even if the library does not know it.
  const isLocal = local !== null && /^\(?0/.test(number) && phone?.isPossible()
  return isLocal || phone?.isValid() ? placeAt(match.index, number, phone) : undefined
}

function placeAt(from: number, number: string, phone: PhoneNumber | undefined): PhonePlace {
  // A number need not be assigned: the numbering plan may be newer than the library.
  const country = phone?.country ?? phone?.getPossibleCountries()[0]
  return { from, to: from + number.length, country, operator: phone && likelyOperator(phone) }
}

export function iccidIn(text: string): Span | undefined {
  return spanOf(iccid.exec(text))
}

export function bareNumberIn(text: string): Span | undefined {
  const match = bare.exec(text)
  return match && match[0].replace(/\D/g, '').length < 9 ? undefined : spanOf(match)
}

function spanOf(match: RegExpExecArray | null): Span | undefined {
  return match === null ? undefined : { from: match.index, to: match.index + match[0].length }
}

/** Without the last groups of digits if only what is before them is a number: "+49 151 23456789 20". */
function withoutAmount(number: string): string {
  for (let text = number; text !== ''; text = text.replace(/\s*\S+$/, '')) {
    if (international(text)?.isValid()) return text
  }
  return number
}

function international(number: string): PhoneNumber | undefined {
  return parsePhoneNumberFromString(`+${number.replace(/\D/g, '').replace(/^00/, '')}`)
}

/** By calling code and first digits, from the metadata of libphonenumber. Empty if hardly anybody knows the name. */
const operators: Readonly<Record<string, Readonly<Record<string, string>>>> = built

/** Only likely, because people take their numbers to other operators. */
function likelyOperator({ countryCallingCode, nationalNumber }: PhoneNumber): string | undefined {
  const names = operators[countryCallingCode] ?? {}
  for (let size = nationalNumber.length; size > 0; size--) {
    const name = names[nationalNumber.slice(0, size)]
    if (name !== undefined) return name || undefined
  }
  return undefined
}
