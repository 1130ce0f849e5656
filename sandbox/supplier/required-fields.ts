import countries from 'i18n-iso-countries/index.js'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

const ofAddress = ['city', 'country', 'postal', 'state', 'street'].map((name) => `address.${name}`)
const names = ['carrier', 'country', 'email', 'firstName', 'lastName', 'middleName', 'msisdn']
const ofPerson = [...ofAddress, ...names]

/** The keys of required fields that Zendit lists (https://developers.zendit.io/required-fields). */
export const knownFields: readonly string[] = [
  ...['challenge.answer', 'challenge.question', 'date', 'language', 'message'].map(
    (name) => `delivery.${name}`,
  ),
  ...ofPerson.map((name) => `recipient.${name}`),
  ...ofPerson.map((name) => `sender.${name}`),
]

/** Zendit documents the meaning of each field and no check: these are the strictest that fit the meaning. */
export function fieldProblem(key: string, value: string): string | undefined {
  if (!knownFields.includes(key)) return 'is no field'
  const name = key.slice(key.lastIndexOf('.') + 1)
  return value === '' || (checks[name]?.(value) ?? true) ? undefined : 'is not valid'
}

const checks: Readonly<Record<string, (value: string) => boolean>> = {
  country: (value) => /^[A-Z]{2}$/.test(value) && countries.isValid(value),
  msisdn: (value) => parsePhoneNumberFromString(value)?.number === value,
  email: (value) => /^[^@\s]+@[^@\s]+$/.test(value),
  language: (value) => /^[a-z]{2}$/.test(value),
  date: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)),
}
