import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** A phone number in groups, as people of its country read it with its calling code: "+1 201 555 0123". */
export function speltNumber(number: string): string {
  return parsePhoneNumberFromString(number)?.formatInternational() ?? number
}
