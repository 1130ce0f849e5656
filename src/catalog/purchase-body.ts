import * as z from 'zod'
import { idInCapitals } from '../lib/ids.ts'
import { type Cents, cents, type Usdc, usdcFromText } from '../lib/money.ts'
import { type Fault, type FaultReason, invalidBody } from '../lib/refusal.ts'
import { kindOf, kinds, type Recipient } from './good.ts'
import type { KindDefinition } from './kinds/kind.ts'
import { goods } from './kinds.ts'
import type { Kind, Offer } from './offer.ts'
import type { Retail } from './pricing.ts'
import { dollarsMeantBy, nameMeantBy } from './search/params.ts'
import { isWebhookUrl, maxWebhookUrl } from './webhook-url.ts'

/** What a purchase says besides the offer. */
export interface LineItem {
  readonly recipient: Recipient
  /** What the buyer chose on an open-value offer. */
  readonly value: Cents | undefined
  /** The most that the buyer lets it cost. */
  readonly most?: Usdc | undefined
  /** Where the store sends every state of the order. */
  readonly webhookUrl?: string | undefined
}

/** What a purchase is checked against besides its offer. */
export interface BodyRules {
  /** What is wrong with a value, as the offer is sold now. */
  readonly rangeFault?: (value: Cents) => FaultReason | undefined
  /** Whether webhooks may go to this machine: only in a sandbox. */
  readonly allowsLoopback?: boolean | undefined
}

/** The flat fields of a purchase body, or of the query of a quote. */
export type Fields = Readonly<Record<string, unknown>>

/** The published names of the fields that a purchase of this offer must carry besides `offerId`. */
export function requiredFieldsOf(offer: Offer): string[] {
  const value = offer.price.type === 'RANGE' ? ['value'] : []
  return [...kindOf(offer).requiredFields(offer), ...value]
}

/**
 * Reads the fields of a purchase against the offer they are for.
 *
 * @throws Refusal `invalid_body` that lists every fault
 */
export function readLineItem(
  offer: Offer,
  fields: Fields,
  { rangeFault = () => undefined, allowsLoopback }: BodyRules = {},
): LineItem {
  const { offerId: _, value, maxUsdc, webhookUrl, ...told } = fields
  const parsed = goods[offer.kind].recipient.safeParse(told)
  const faults = [
    ...recipientFaults(offer.kind, fields, offer.country),
    ...missingFields(offer, fields),
    ...valueFaults(offer, value, rangeFault),
    ...maxFaults(maxUsdc),
    ...webhookFaults(webhookUrl, allowsLoopback),
    ...offerFaults(offer, fields),
  ]
  if (faults.length > 0 || !parsed.success) throw invalidBody(faults)
  return {
    recipient: { kind: offer.kind, ...kindOf(offer).recipientOf(offer, parsed.data) } as Recipient,
    value: value === undefined ? undefined : centsOf(Number(value)),
    most: maxUsdc === undefined ? undefined : usdcFromText(String(maxUsdc)),
    webhookUrl: webhookUrl === undefined ? undefined : String(webhookUrl),
  }
}

/**
 * What is wrong with the fields that every offer of a kind asks for.
 *
 * @param country the offer's, if it is known: it helps to guess which phone number was meant
 */
export function recipientFaults(
  kind: Kind,
  { offerId: _, value: __, maxUsdc: ___, webhookUrl: ____, ...told }: Fields,
  country?: string,
): Fault[] {
  const parsed = goods[kind].recipient.safeParse(told, { reportInput: true })
  if (parsed.success) return []
  return parsed.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField(key, kind))
    const fault = fieldFault(issue)
    return [hinted(fault, kind, { given: told[fault.field], country })]
  })
}

/** The exact JSON Schema of the body that buys this offer. */
export function bodySchemaFor(offer: Offer, retail: Retail): Record<string, unknown> {
  const { properties, required } = recipientSchema(offer.kind)
  const value = retail.type === 'RANGE' ? { value: valueSchema(retail) } : {}
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      offerId: { type: 'string', const: offer.id },
      ...properties,
      ...value,
      ...everyPurchase,
    },
    required: ['offerId', ...new Set([...required, ...requiredFieldsOf(offer)])],
    additionalProperties: false,
  }
}

/** The JSON Schema of any purchase body of a kind, as the manifest lists it. */
export function kindSchemaFor(kind: Kind): Record<string, unknown> {
  const { properties, required } = recipientSchema(kind)
  const description =
    'US dollars, only for offers with an open value (priceType RANGE), within value.min and value.max of the offer: 25 is 25.00 USD'
  const value = goods[kind].takesValue ? { value: { type: 'number', description } } : {}
  return {
    type: 'object',
    properties: { offerId: { type: 'string' }, ...properties, ...value, ...everyPurchase },
    required: ['offerId', ...required],
    additionalProperties: false,
  }
}

/**
 * The purchase as one text, the same for all spellings of the same values, by which a repeated request is told from
 * another one. `maxUsdc` does not count.
 */
export function wordingOf(kind: Kind, fields: Fields): string {
  const { fields: known }: KindDefinition = goods[kind]
  const sorted = Object.entries(fields)
    .filter(([name]) => name !== 'maxUsdc')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => {
      const spelling = name === 'offerId' ? idInCapitals : known[name]?.alike
      return [name, typeof value === 'string' && spelling !== undefined ? spelling(value) : value]
    })
  return JSON.stringify([kind, sorted])
}

/** Other names that callers use for the fields of every purchase. */
const otherNames: readonly (readonly [string, ...string[]])[] = [
  ['offerId', 'id', 'offer', 'offer_id', 'product', 'productId', 'product_id', 'sku'],
  ['value', 'amount', 'price', 'faceValue', 'face_value', 'denomination', 'usd'],
  ['maxUsdc', 'max_usdc', 'maxPrice', 'max_price', 'budget'],
  ['webhookUrl', 'webhook', 'webhook_url', 'callback', 'callbackUrl', 'callback_url', 'notifyUrl'],
]

function hinted(
  fault: Fault,
  kind: Kind,
  { given, country }: { readonly given: unknown; readonly country?: string | undefined },
): Fault {
  const { fields }: KindDefinition = goods[kind]
  return meaning(fault, valueMeantBy(given, fields[fault.field]?.meantBy, country))
}

function unknownField(key: string, kind: Kind): Fault {
  if (countFields.includes(key)) return { field: key, code: 'several' }
  const { fields }: KindDefinition = goods[kind]
  const own = Object.entries(fields).map(([name, { otherNames: others = [] }]) => [name, ...others])
  const names = [...otherNames, ...own]
  const known = names.flatMap(([name = '']) => name)
  return meaning({ field: key, code: 'unknown_field' }, nameMeantBy(key, known, names))
}

/** The fault with what was probably meant, if that is known. */
export function meaning(fault: Fault, meant: string | number | undefined): Fault {
  return meant === undefined ? fault : { ...fault, didYouMean: meant }
}

function fieldFault(issue: z.core.$ZodIssue): Fault {
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined
  return { field: String(issue.path[0] ?? ''), code: isMissing ? 'missing' : 'malformed' }
}

/** The missing fields that this offer requires beyond those of its kind. */
function missingFields(offer: Offer, fields: Fields): Fault[] {
  const always = recipientSchema(offer.kind).required
  return requiredFieldsOf(offer)
    .filter((name) => !always.includes(name))
    .filter((name) => fields[name] === undefined || fields[name] === '')
    .map((field) => ({ field, code: 'missing' }))
}

function valueFaults(
  offer: Offer,
  value: unknown,
  rangeFault: (value: Cents) => FaultReason | undefined,
): Fault[] {
  if (value === undefined || value === '') return []
  if (offer.price.type === 'FIXED') {
    return [{ field: 'value', code: 'fixed_price' }]
  }
  if (typeof value === 'number' && value > 0 && /^\d{1,9}(\.\d{1,2})?$/.test(String(value))) {
    const fault = rangeFault(centsOf(value))
    return fault === undefined ? [] : [{ field: 'value', ...fault }]
  }
  return [meaning({ field: 'value', code: 'malformed' }, valueMeantBy(value, dollarsMeantBy))]
}

function maxFaults(maxUsdc: unknown): Fault[] {
  if (maxUsdc === undefined) return []
  if (typeof maxUsdc === 'number' && /^\d{1,9}(\.\d{1,6})?$/.test(String(maxUsdc))) return []
  return [meaning({ field: 'maxUsdc', code: 'malformed' }, valueMeantBy(maxUsdc, dollarsMeantBy))]
}

function webhookFaults(url: unknown, allowsLoopback?: boolean): Fault[] {
  if (url === undefined || isWebhookUrl(url, allowsLoopback)) return []
  return [{ field: 'webhookUrl', code: 'malformed' }]
}

function centsOf(dollars: number): Cents {
  return cents(Math.round(dollars * 100))
}

/** Faults that only show against the offer, such as a phone number of another country. */
function offerFaults(offer: Offer, fields: Fields): Fault[] {
  const { kind, country } = offer
  const faults = kindOf(offer).faultsIn?.(offer, fields) ?? []
  return faults.map((fault) => hinted(fault, kind, { given: fields[fault.field], country }))
}

interface RecipientSchema {
  readonly properties: object
  readonly required: readonly string[]
}

const maxUsdc = {
  type: 'number',
  minimum: 0,
  description:
    'The most USDC that it may cost: 30 is 30.00 USDC. A higher price is refused before any payment',
} as const

const webhookUrl = {
  type: 'string',
  format: 'uri',
  pattern: '^https://',
  maxLength: maxWebhookUrl,
  description:
    'Where the store sends every state of the order, signed (Standard Webhooks): an https URL on port 443 or 8443',
} as const

/** The optional fields that every purchase may have. */
const everyPurchase = { maxUsdc, webhookUrl } as const

/** The names of these fields. */
export const fieldsOfEveryPurchase: readonly string[] = Object.keys(everyPurchase)

const recipientSchemas = new Map<Kind, RecipientSchema>()

/** Made once per kind: a schema never changes, and making one takes longer than reading a body with it. */
function recipientSchema(kind: Kind): RecipientSchema {
  const known = recipientSchemas.get(kind)
  if (known !== undefined) return known
  const schema = z.toJSONSchema(goods[kind].recipient, { io: 'input' })
  const made = { properties: schema.properties ?? {}, required: schema.required ?? [] }
  recipientSchemas.set(kind, made)
  return made
}

/**
 * The schema has the step as `multipleOf` only if that is exact in floating point: common validators divide, and
 * would find that 4.35 is no multiple of 0.01. The description always names the step.
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

/** Fields in which models ask for several at once. A count of one is ignored: a purchase is one anyway. */
const countFields: readonly string[] = ['quantity', 'qty', 'count']

type Reading = (text: string) => unknown

/** How a text in a field is read if it can mean only one thing. Any other text stays as it is. */
const readings: ReadonlyMap<string, Reading> = new Map([
  ...kinds.flatMap(readingsOf),
  ['value', numberIn],
  ['maxUsdc', numberIn],
])

function readingsOf(kind: Kind): [string, Reading][] {
  const { fields }: KindDefinition = goods[kind]
  return Object.entries(fields).flatMap(([name, { understood }]) =>
    understood === undefined ? [] : [[name, understood]],
  )
}

/**
 * The fields of a purchase as they are understood. Models send empty texts and nulls for what they leave out,
 * numbers as text, and extra spaces. A text that was accepted even without this stays letter by letter; otherwise
 * a repeated purchase would differ from the one before.
 */
export function understood(fields: Fields): Record<string, unknown> {
  const given = Object.entries(fields).filter(([name, value]) => !isLeftOut(name, value))
  return Object.fromEntries(given.map(([name, value]) => [name, readAs(name, value)]))
}

function isLeftOut(name: string, value: unknown): boolean {
  if (value === null) return true
  // An empty maximum is refused: leaving it out would buy without a maximum.
  if (typeof value === 'string' && value.trim() === '') return name !== 'maxUsdc'
  if (name === 'value') return readAs(name, value) === 0
  return countFields.includes(name) && (value === 1 || value === '1')
}

function readAs(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return (readings.get(name) ?? trimmed)(value)
}

function trimmed(text: string): string {
  return text.trim()
}

function numberIn(text: string): unknown {
  const bare = text.trim()
  return /^\d{1,9}(\.\d{1,6})?$/.test(bare) ? Number(bare) : bare
}

/**
 * What was probably meant by a value that a field cannot have: for "$25" 25, for a phone number without its plus
 * the one with it, for a country's name its code. The guess is only told; nothing is bought by it.
 *
 * @param read guesses the value from the text; undefined if the field has no such guess
 * @param country the offer's, for phone numbers without a calling code
 */
function valueMeantBy(
  given: unknown,
  read: ((text: string, country?: string) => string | number | undefined) | undefined,
  country?: string,
): string | number | undefined {
  if (typeof given !== 'string' && !isExact(given)) return undefined
  const meant = read?.(String(given), country)
  return meant === given ? undefined : meant
}

/** Beyond 2^53 a JSON number has lost digits, so no guess is made from it. */
function isExact(given: unknown): given is number {
  return typeof given === 'number' && Math.abs(given) <= Number.MAX_SAFE_INTEGER
}

export type ExampleBody = Readonly<Record<string, string | number | boolean>>

/** A body that would buy this offer, for a made-up recipient. It passes the store's own checks. */
export function exampleBody(offer: Offer, retail: Retail): ExampleBody {
  const { fields } = kindOf(offer)
  const value = retail.type === 'RANGE' ? retail.min / 100 : 0
  const asked = requiredFieldsOf(offer).map((name) => [
    name,
    name === 'value' ? value : (fields[name]?.example(offer) ?? ''),
  ])
  return { offerId: offer.id, ...Object.fromEntries(asked) }
}
