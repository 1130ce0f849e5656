import * as z from 'zod'
import type { Fault } from '../../lib/refusal.ts'
import { countryMeantBy, isCountry } from '../countries.ts'
import type { OfferBase } from '../offer.ts'
import { barePhone, exampleNumber, numberInUse, phoneMeantBy, phonePattern } from '../phone.ts'
import { type FieldHelp, lineForm, lineOf } from './kind.ts'

/** What a purchase of any voucher may name: of its recipient, who is its sender too. */
const usualFields = ['firstName', 'lastName', 'email', 'country'] as const

interface Asked {
  readonly text: z.ZodType<string>
  readonly help: FieldHelp
  /** What the field holds, as its description begins. */
  readonly about: string
  readonly check: AskedCheck
}

export type AskedCheck = 'line' | 'message' | 'phone' | 'country' | 'postal' | 'date' | 'language'

const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })

export const countryText = z
  .string()
  .regex(/^[A-Za-z]{2}$/)
  .transform((code) => code.toUpperCase())
  .refine(isCountry)

export const countryHelp = {
  form: 'must be an ISO 3166-1 alpha-2 code such as US',
  meantBy: countryMeantBy,
  alike: (text: string) => text.toUpperCase(),
  example: ({ country = 'US' }: OfferBase) => country,
} as const

function line(about: string, max: number, example: string): Asked {
  const help = { form: lineForm(max), example: () => example }
  return { text: lineOf(max), help, about, check: max > 80 ? 'message' : 'line' }
}

const language: Asked = {
  text: z
    .string()
    .regex(/^[A-Za-z]{2}$/)
    .transform((code) => code.toLowerCase())
    .refine((code) => languages.of(code) !== undefined),
  help: {
    form: 'must be an ISO 639-1 code of a language, such as en',
    alike: (text) => text.toLowerCase(),
    example: () => 'en',
  },
  about: 'language, an ISO 639-1 code',
  check: 'language',
}

const date: Asked = {
  text: z.iso.date(),
  help: {
    form: 'must be the date of today in UTC, as 2026-01-31: the store delivers at once',
    example: () => dayOf(new Date()),
  },
  about: 'date, as YYYY-MM-DD: only today in UTC',
  check: 'date',
}

const phone: Asked = {
  text: z
    .string()
    .regex(phonePattern)
    .transform((text, context) => {
      const number = numberInUse(text)
      if (number === undefined) context.addIssue({ code: 'custom' })
      return number ?? z.NEVER
    }),
  help: {
    form: 'must be a phone number in use with + and the country calling code (E.164), such as +5355564362',
    meantBy: phoneMeantBy,
    understood: barePhone,
    alike: (text) => text.replace(/[^+\d]/g, ''),
    example: ({ country }) => exampleNumber(country),
  },
  about: 'phone number, in E.164 form: +5355564362',
  check: 'phone',
}

const country: Asked = {
  text: countryText,
  help: countryHelp,
  about: 'country of the address, ISO 3166-1 alpha-2',
  check: 'country',
}

/** Universal Postal Union, S42: a postal code is text, and its form differs by country. */
const postal: Asked = {
  text: z
    .string()
    .trim()
    .max(16)
    .regex(/^[\p{L}\p{N}](?:[ -]?[\p{L}\p{N}])*$/u),
  help: {
    form: 'must be a postal code: at most 16 letters and digits, with single spaces or hyphens between them',
    alike: (text) => text.toUpperCase(),
    example: () => '10115',
  },
  about: 'postal code',
  check: 'postal',
}

const city = line('city', 80, 'Berlin')
const state = line('state or province', 80, 'Berlin')
const street = line('street and house number', 80, 'Invalidenstr. 1')
const carrier = line('carrier of the phone number', 80, 'T-Mobile')
const middleName = line('middle name', 80, 'King')

/**
 * What else a brand may require, by Zendit's keys: its published list (https://developers.zendit.io/required-fields).
 * Zendit may add to it at any time, and a brand that requires anything else cannot be sold.
 */
const asked = {
  'recipient.middleName': middleName,
  'recipient.msisdn': phone,
  'recipient.carrier': carrier,
  'recipient.address.street': street,
  'recipient.address.city': city,
  'recipient.address.state': state,
  'recipient.address.postal': postal,
  'recipient.address.country': country,
  'sender.middleName': middleName,
  'sender.msisdn': phone,
  'sender.carrier': carrier,
  'sender.address.street': street,
  'sender.address.city': city,
  'sender.address.state': state,
  'sender.address.postal': postal,
  'sender.address.country': country,
  'delivery.challenge.question': line('question that the recipient must answer', 80, 'My cat?'),
  'delivery.challenge.answer': line('answer to that question', 80, 'Ada'),
  'delivery.date': date,
  'delivery.language': language,
  'delivery.message': line('message that goes with the gift', 200, 'Happy birthday!'),
} as const satisfies Readonly<Record<string, Asked>>

type Key = keyof typeof asked
type NameOf<Dotted extends string> = Dotted extends `${infer Head}.${infer Rest}`
  ? `${Head}${Capitalize<NameOf<Rest>>}`
  : Dotted
export type AskedField = NameOf<Key>

const nameOf = (key: string) => key.replace(/\.(\w)/g, (_, first: string) => first.toUpperCase())

const entries = Object.entries(asked) as [Key, Asked][]

function byName<T>(make: (one: Asked, key: Key) => T): Record<AskedField, T> {
  const made = entries.map(([key, one]) => [nameOf(key), make(one, key)])
  return Object.fromEntries(made) as Record<AskedField, T>
}

/** Whose field it is, what it holds, and how it is checked: enough for a form to ask for it. */
export const askedFields = byName(({ check }, key) => ({
  of: key.slice(0, key.indexOf('.')) as 'delivery' | 'recipient' | 'sender',
  part: key.slice(key.lastIndexOf('.') + 1) as Part<Key>,
  check,
}))

type Part<Dotted extends string> = Dotted extends `${string}.${infer Rest}` ? Part<Rest> : Dotted

export const askedShape = byName(({ text, about }, key) => {
  const whose = key.slice(0, key.indexOf('.'))
  const title = `${whose.charAt(0).toUpperCase()}${whose.slice(1)}: ${about}`
  return text.optional().describe(title)
})

export const askedHelp = byName(({ help }) => help)

/** The field of a purchase that fills each of Zendit's keys, by key. */
export const fieldOfKey: ReadonlyMap<string, string> = new Map([
  ...['recipient', 'sender'].flatMap((side) =>
    usualFields.map((name) => [`${side}.${name}`, name] as const),
  ),
  ...entries.map(([key]) => [key, nameOf(key)] as const),
])

const isAsked = (name: string): name is AskedField => name in askedShape

/** Fields that this offer does not ask for, because personal data that nobody needs is not taken, and wrong dates. */
export function askedFaults(
  required: readonly string[],
  fields: Readonly<Record<string, unknown>>,
  now: Date,
): Fault[] {
  const names = new Set(required.map((key) => fieldOfKey.get(key)))
  const unasked = Object.keys(fields).filter((name) => isAsked(name) && !names.has(name))
  const { deliveryDate } = fields
  const dates = [dayOf(now), dayOf(new Date(now.getTime() - 86_400_000))]
  const isLate = z.iso.date().safeParse(deliveryDate).success && !dates.includes(`${deliveryDate}`)
  return [
    ...unasked.map((field) => ({ field, code: 'unknown_field' }) as const),
    ...(isLate
      ? [{ field: 'deliveryDate', code: 'malformed', didYouMean: dayOf(now) } as const]
      : []),
  ]
}

/** In UTC. */
function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
