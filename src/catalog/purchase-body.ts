import * as z from 'zod'
import { type Cents, cents } from '../lib/money.ts'
import { type Fault, Refusal } from '../lib/refusal.ts'
import { isCountry } from './countries.ts'
import { goods, type Recipient } from './good.ts'
import { fieldMeantBy, valueMeantBy } from './meant.ts'
import type { Kind, Offer } from './offer.ts'
import { phoneForm, readPhone } from './phone.ts'
import type { Retail } from './pricing.ts'

/** What a purchase says besides the offer. */
export interface LineItem {
  readonly recipient: Recipient
  /** What the buyer chose on an open-value offer. */
  readonly value: Cents | undefined
}

/** The flat fields of a purchase body, or of the query of a quote. */
export type Fields = Readonly<Record<string, unknown>>

const voucherFieldSources = {
  email: ['recipient.email', 'sender.email'],
  country: ['recipient.country', 'sender.country'],
} as const

/** The published names of the fields that a purchase of this offer must carry besides `offerId`. */
export function requiredFieldsOf(offer: Offer): string[] {
  const value = offer.price.type === 'RANGE' ? ['value'] : []
  switch (offer.kind) {
    case 'voucher': {
      const asked = Object.entries(voucherFieldSources)
        .filter(([, keys]) => keys.some((key) => offer.requiredFields.includes(key)))
        .map(([name]) => name)
      return ['firstName', 'lastName', ...asked, ...value]
    }
    case 'topup':
      return ['msisdn', ...value]
    case 'esim':
      return value
  }
}

/**
 * Reads the fields of a purchase against the offer they are for.
 *
 * @param rangeFault what is wrong with a value, as the offer is sold now
 * @throws Refusal `invalid_body` that lists every fault
 */
export function readLineItem(
  offer: Offer,
  fields: Fields,
  rangeFault: (value: Cents) => string | undefined = () => undefined,
): LineItem {
  const { offerId: _, value, ...told } = fields
  const parsed = goods[offer.kind].recipient.safeParse(told)
  const faults = [
    ...recipientFaults(offer.kind, fields, offer.country),
    ...missingFields(offer, fields),
    ...valueFaults(offer, value, rangeFault),
    ...meaningFaults(offer, fields),
  ]
  if (faults.length > 0 || !parsed.success) throw invalidBody(faults)
  return {
    recipient: recipientOf(offer, parsed.data),
    value: value === undefined ? undefined : centsOf(Number(value)),
  }
}

/**
 * What is wrong with the fields that every offer of a kind asks for.
 *
 * @param country the offer's, where it is known: it tells what a phone number was meant to be
 */
export function recipientFaults(
  kind: Kind,
  { offerId: _, value: __, ...told }: Fields,
  country?: string,
): Fault[] {
  const parsed = goods[kind].recipient.safeParse(told, { reportInput: true })
  if (parsed.success) return []
  return parsed.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField(key, kind))
    const fault = fieldFault(issue)
    return [hinted(fault, told[fault.parameter], country)]
  })
}

/** The exact JSON Schema of the body that buys this offer. */
export function bodySchemaFor(offer: Offer, retail: Retail): Record<string, unknown> {
  const { properties, required } = recipientSchemas[offer.kind]
  const value = retail.type === 'RANGE' ? { value: valueSchema(retail) } : {}
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { offerId: { type: 'string', const: offer.id }, ...properties, ...value },
    required: ['offerId', ...new Set([...required, ...requiredFieldsOf(offer)])],
    additionalProperties: false,
  }
}

/** The JSON Schema of any purchase body of a kind, as the manifest lists it. */
export function kindSchemaFor(kind: Kind): Record<string, unknown> {
  const { properties, required } = recipientSchemas[kind]
  const description = 'USD amount, only for open-value RANGE cards'
  const value = kind === 'esim' ? {} : { value: { type: 'number', description } }
  return {
    type: 'object',
    properties: { offerId: { type: 'string' }, ...properties, ...value },
    required: ['offerId', ...required],
    additionalProperties: false,
  }
}

/** What is asked for as one text, whatever the order of its fields: tells same from other. */
export function wordingOf(kind: Kind, fields: Fields): string {
  const sorted = Object.keys(fields)
    .sort()
    .map((name) => [name, fields[name]])
  return JSON.stringify([kind, sorted])
}

/** The refusal of a body; a field with several faults is named once, by its first. */
export function invalidBody(found: readonly Fault[]): Refusal {
  const faults = found.filter(
    ({ parameter }, at) => found.findIndex((fault) => fault.parameter === parameter) === at,
  )
  const [first] = faults
  const detail = faults.map(({ parameter, message }) => `${parameter} ${message}`).join('; ')
  return new Refusal('invalid_body', detail.endsWith('?') ? detail : `${detail}.`, {
    errors: faults,
    ...(faults.length === 1 && first ? onlyFault(first) : {}),
  })
}

function onlyFault({ parameter, didYouMean }: Fault) {
  return { parameter, ...(didYouMean === undefined ? {} : { extra: { didYouMean } }) }
}

function hinted(fault: Fault, given: unknown, country?: string): Fault {
  return meaning(fault, valueMeantBy(fault.parameter, given, country))
}

function unknownField(key: string, kind: Kind): Fault {
  const known = ['offerId', 'value', ...Object.keys(goods[kind].recipient.shape)]
  const fault = { parameter: key, message: 'is not a field of this purchase' }
  return meaning(fault, fieldMeantBy(key, known))
}

/** The fault with what was probably meant, where that is known. */
export function meaning(fault: Fault, meant: string | number | undefined): Fault {
  if (meant === undefined) return fault
  return { ...fault, message: `${fault.message}; did you mean ${meant}?`, didYouMean: meant }
}

function fieldFault(issue: z.core.$ZodIssue): Fault {
  const parameter = String(issue.path[0] ?? '')
  const missing = issue.code === 'invalid_type' && issue.input === undefined
  const message = missing ? isRequired : (hints[parameter] ?? `is not valid: ${issue.message}`)
  return { parameter, message }
}

const isRequired = 'is required for this offer'

const hints: Readonly<Record<string, string>> = {
  firstName: 'must be text of 1 to 80 characters without control characters',
  lastName: 'must be text of 1 to 80 characters without control characters',
  email: 'must be an e-mail address',
  country: 'must be an ISO 3166-1 alpha-2 code such as US',
  msisdn: phoneForm,
  confirmNumber: 'must be true or false',
  iccid: 'must be the 19 or 20 digits of an installed eSIM, beginning with 89',
}

/** What this offer asks for beyond its kind. */
function missingFields(offer: Offer, fields: Fields): Fault[] {
  const always = recipientSchemas[offer.kind].required
  return requiredFieldsOf(offer)
    .filter((name) => !always.includes(name))
    .filter((name) => fields[name] === undefined || fields[name] === '')
    .map((parameter) => ({ parameter, message: isRequired }))
}

function valueFaults(
  offer: Offer,
  value: unknown,
  rangeFault: (value: Cents) => string | undefined,
): Fault[] {
  if (value === undefined || value === '') return []
  if (offer.price.type === 'FIXED') {
    return [{ parameter: 'value', message: 'is only for open-value (RANGE) offers' }]
  }
  if (typeof value === 'number' && value > 0 && /^\d{1,9}(\.\d{1,2})?$/.test(String(value))) {
    const fault = rangeFault(centsOf(value))
    return fault === undefined ? [] : [{ parameter: 'value', message: fault }]
  }
  return [hinted({ parameter: 'value', message: valueForm }, value)]
}

/** How an amount is written. */
export const valueForm =
  'must be a number of US dollars with at most 2 decimals, such as 25 or 12.5'

function centsOf(dollars: number): Cents {
  return cents(Math.round(dollars * 100))
}

/** Faults that only the offer can tell: the right country, a number that can be topped up. */
function meaningFaults(offer: Offer, { msisdn, confirmNumber, country }: Fields): Fault[] {
  if (offer.kind === 'topup' && typeof msisdn === 'string') {
    return numberFaults(offer.country, msisdn, confirmNumber)
  }
  if (offer.kind !== 'voucher' || typeof country !== 'string') return []
  if (isCountry(country.toUpperCase())) return []
  return [hinted({ parameter: 'country', message: hints['country'] ?? '' }, country)]
}

function numberFaults(country: string, msisdn: string, confirmNumber: unknown): Fault[] {
  const read = readPhone(msisdn, country)
  const message = 'fault' in read ? read.fault : unknownNumber
  // An insistence that is neither true nor false is the one fault that is told.
  const insists = confirmNumber !== undefined && confirmNumber !== false
  const isGood = 'number' in read && (read.isValid || insists)
  return isGood ? [] : [hinted({ parameter: 'msisdn', message }, msisdn, country)]
}

/** Said of a number that a buyer may insist on. */
export const unknownNumber =
  'is not a number that any numbering plan known here has; if it is right, send confirmNumber: true'

/** Said of an eSIM that gets no other plan here. */
export const foreignIccid =
  'is not an eSIM bought here by this wallet, and the supplier does not know it'

/** Who receives the good, as it is passed on: a number as it was understood. */
function recipientOf(offer: Offer, told: object): Recipient {
  if (offer.kind !== 'topup') return { kind: offer.kind, ...told } as Recipient
  const { msisdn } = told as z.infer<typeof goods.topup.recipient>
  const read = readPhone(msisdn, offer.country)
  if ('fault' in read) throw invalidBody([{ parameter: 'msisdn', message: read.fault }])
  return { kind: 'topup', msisdn: read.number }
}

/** Made once: a schema never changes, and making one takes longer than reading a body with it. */
const recipientSchemas: Readonly<
  Record<Kind, { properties: object; required: readonly string[] }>
> = {
  voucher: recipientSchemaOf('voucher'),
  topup: recipientSchemaOf('topup'),
  esim: recipientSchemaOf('esim'),
}

function recipientSchemaOf(kind: Kind): { properties: object; required: readonly string[] } {
  const schema = z.toJSONSchema(goods[kind].recipient, { io: 'input' })
  return { properties: schema.properties ?? {}, required: schema.required ?? [] }
}

/**
 * The step is a rule of the schema only where it is exact as a float: common validators divide, and
 * would find that 4.35 is no multiple of 0.01. The description always says it.
 */
function valueSchema(retail: Extract<Retail, { type: 'RANGE' }>): Record<string, unknown> {
  const stepped = retail.min % retail.increment === 0 && retail.increment % 25 === 0
  return {
    type: 'number',
    minimum: retail.min / 100,
    maximum: retail.max / 100,
    ...(stepped ? { multipleOf: retail.increment / 100 } : {}),
    description: `US dollars, ${(retail.min / 100).toFixed(2)} plus steps of ${(retail.increment / 100).toFixed(2)}`,
  }
}
