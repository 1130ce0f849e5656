import * as z from 'zod'
import { idInCapitals } from '../lib/ids.ts'
import { type Cents, cents, type Usdc, usdcFromText } from '../lib/money.ts'
import { type Fault, type FaultReason, invalidBody } from '../lib/refusal.ts'
import { flagIn, type KindDefinition } from './kinds/kind.ts'
import { goods } from './kinds.ts'
import { byKind, type Kind, kindOf, kinds, type Offer, type Recipient } from './offer.ts'
import type { Retail } from './pricing.ts'
import { dollarsMeantBy, nameMeantBy } from './search/params.ts'
import { isWebhookUrl, maxWebhookUrl } from './webhook-url.ts'

export interface LineItem {
  readonly recipient: Recipient
  readonly value: Cents | undefined
  readonly most?: Usdc | undefined
  readonly webhookUrl?: string | undefined
}

export interface BodyRules {
  readonly now: Date
  readonly rangeFault?: (value: Cents) => FaultReason | undefined
  /** Only in a sandbox may webhooks go to this machine. */
  readonly allowsLoopback?: boolean | undefined
}

export type Fields = Readonly<Record<string, unknown>>

export function requiredFieldsOf(offer: Offer): string[] {
  const value = offer.price.type === 'RANGE' ? ['value'] : []
  return [...kindOf(offer).requiredFields(offer), ...value]
}

/** @throws Refusal `invalid_body` that lists every fault */
export function readLineItem(
  offer: Offer,
  fields: Fields,
  { now, rangeFault = () => undefined, allowsLoopback }: BodyRules,
): LineItem {
  const { kind } = offer
  const { value, maxUsdc, webhookUrl, confirmAnother } = fields
  const faults = [
    ...recipientFaults(kind, fields, offer.country),
    ...missingFields(offer, fields),
    ...valueFaults(offer, value, rangeFault),
    ...maxFaults(maxUsdc),
    ...malformedUnless(isWebhookUrl(webhookUrl, allowsLoopback), { webhookUrl }),
    ...malformedUnless(typeof confirmAnother === 'boolean', { confirmAnother }),
    ...offerFaults(offer, fields, now),
  ]
  if (faults.length > 0) throw invalidBody(faults)
  const recipient = kindOf(offer).recipientOf(offer, goods[kind].recipient.parse(ownFields(fields)))
  return {
    recipient: { kind, ...recipient } as Recipient,
    value: value === undefined ? undefined : centsOf(Number(value)),
    most: maxUsdc === undefined ? undefined : usdcFromText(String(maxUsdc)),
    webhookUrl: webhookUrl === undefined ? undefined : String(webhookUrl),
  }
}

function ownFields(fields: Fields): Fields {
  const others = ['offerId', 'value', ...fieldsOfEveryPurchase]
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !others.includes(name)))
}

export function recipientFaults(kind: Kind, fields: Fields, country?: string): Fault[] {
  const own = ownFields(fields)
  const parsed = goods[kind].recipient.safeParse(own, { reportInput: true })
  if (parsed.success) return []
  return parsed.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField(key, kind))
    const field = String(issue.path[0] ?? '')
    const isMissing = issue.code === 'invalid_type' && issue.input === undefined
    const fault = { field, code: isMissing ? 'missing' : 'malformed' } as const
    return [withHint(fault, own[field], helpFor(kind)[field]?.meantBy, country)]
  })
}

export function bodySchemaFor(offer: Offer, retail: Retail): Record<string, unknown> {
  const { kind, id } = offer
  const value = retail.type === 'RANGE' ? { value: valueSchema(retail) } : {}
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...bodySchema(kind, { type: 'string', const: id }, value, requiredFieldsOf(offer)),
  }
}

/** With every field that some offer of the kind takes. */
export function wholeSchemaFor(kind: Kind): Record<string, unknown> {
  const schema = kindSchemaFor(kind)
  const properties = { ...schema.properties, ...recipientSchemas[kind].rare }
  return { ...schema, properties }
}

/** Without the fields that only the offers which require them take (`rareFields`). */
export function kindSchemaFor(kind: Kind) {
  const description =
    'US dollars, only for offers with an open value (priceType RANGE), within value.min and value.max of the offer: 25 is 25.00 USD'
  const value = goods[kind].takesValue ? { value: { type: 'number', description } } : {}
  return bodySchema(kind, { type: 'string' }, value)
}

function bodySchema(kind: Kind, offerId: object, value: object, more: readonly string[] = []) {
  const { properties, rare, required } = recipientSchemas[kind]
  const taken = Object.entries(rare).filter(([name]) => more.includes(name))
  const asked = Object.fromEntries(taken)
  return {
    type: 'object',
    properties: { offerId, ...properties, ...asked, ...value, ...everyPurchase },
    required: [...new Set(['offerId', ...required, ...more])],
    additionalProperties: false,
  }
}

/** What a buyer allows or insists on, and not what is bought. */
const beside = ['maxUsdc', 'confirmAnother']

type Wording = readonly [kind: Kind, fields: readonly (readonly [name: string, value: unknown])[]]

/** The same text for all spellings of one purchase, to tell a repeated request from another one. */
export function wordingOf(kind: Kind, fields: Fields): string {
  const sorted = Object.entries(fields)
    .filter(([name]) => !beside.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => {
      const spelling = name === 'offerId' ? idInCapitals : helpFor(kind)[name]?.alike
      return [name, typeof value === 'string' && spelling !== undefined ? spelling(value) : value]
    })
  return JSON.stringify([kind, sorted])
}

export function fieldsInWording(wording: string): Wording[1] {
  const [, fields] = JSON.parse(wording) as Wording
  return fields
}

function helpFor(kind: Kind): KindDefinition['fields'] {
  return goods[kind].fields
}

const otherNames: readonly (readonly [string, ...string[]])[] = [
  ['offerId', 'id', 'offer', 'offer_id', 'product', 'productId', 'product_id', 'sku'],
  ['value', 'amount', 'price', 'faceValue', 'face_value', 'denomination', 'usd'],
  ['maxUsdc', 'max_usdc', 'maxPrice', 'max_price', 'budget'],
  ['webhookUrl', 'webhook', 'webhook_url', 'callback', 'callbackUrl', 'callback_url', 'notifyUrl'],
]

function unknownField(key: string, kind: Kind): Fault {
  if (countFields.includes(key)) return { field: key, code: 'several' }
  const own = Object.entries(helpFor(kind)).map(([name, help]) => [
    name,
    ...(help.otherNames ?? []),
  ])
  const names = [...otherNames, ...own]
  const allNames = names.flatMap(([name = '']) => name)
  return meaning({ field: key, code: 'unknown_field' }, nameMeantBy(key, allNames, names))
}

/** Nothing is bought by a guess. Beyond 2^53 a JSON number has lost digits, so nothing is made of it. */
function withHint(
  fault: Fault,
  value: unknown,
  meantBy?: (text: string, country?: string) => string | number | undefined,
  country?: string,
): Fault {
  const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
  if (!isExact && typeof value !== 'string') return fault
  const meant = meantBy?.(String(value), country)
  return meaning(fault, meant === value ? undefined : meant)
}

export function meaning(fault: Fault, meant: string | number | undefined): Fault {
  return meant === undefined ? fault : { ...fault, didYouMean: meant }
}

function missingFields(offer: Offer, fields: Fields): Fault[] {
  const always = recipientSchemas[offer.kind].required
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
  if (offer.price.type === 'FIXED') return [{ field: 'value', code: 'fixed_price' }]
  if (typeof value === 'number' && value > 0 && /^\d{1,9}(\.\d{1,2})?$/.test(String(value))) {
    const fault = rangeFault(centsOf(value))
    return fault === undefined ? [] : [{ field: 'value', ...fault }]
  }
  return [withHint({ field: 'value', code: 'malformed' }, value, dollarsMeantBy)]
}

function maxFaults(maxUsdc: unknown): Fault[] {
  if (maxUsdc === undefined) return []
  if (typeof maxUsdc === 'number' && /^\d{1,9}(\.\d{1,6})?$/.test(String(maxUsdc))) return []
  return [withHint({ field: 'maxUsdc', code: 'malformed' }, maxUsdc, dollarsMeantBy)]
}

function malformedUnless(isGood: boolean, fields: Fields): Fault[] {
  const sent = Object.keys(fields).filter((name) => fields[name] !== undefined)
  return isGood ? [] : sent.map((field) => ({ field, code: 'malformed' }))
}

function centsOf(dollars: number): Cents {
  return cents(Math.round(dollars * 100))
}

function offerFaults(offer: Offer, fields: Fields, now: Date): Fault[] {
  const { kind, country } = offer
  const faults = kindOf(offer).faultsIn?.(offer, fields, now) ?? []
  return faults.map((fault) => {
    const { field } = fault
    return withHint(fault, fields[field], helpFor(kind)[field]?.meantBy, country)
  })
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

const confirmAnother = {
  type: 'boolean',
  description: 'true buys the same again, after possible_duplicate. Only if it is wanted twice',
} as const

const everyPurchase = { maxUsdc, webhookUrl, confirmAnother } as const

export const fieldsOfEveryPurchase: readonly string[] = Object.keys(everyPurchase)

/** Making a schema takes longer than reading a body with it. */
const recipientSchemas = byKind((kind) => {
  const { rareFields }: KindDefinition = goods[kind]
  const { properties = {}, required = [] } = z.toJSONSchema(goods[kind].recipient, { io: 'input' })
  const all = Object.entries(properties)
  const those = (isRare: boolean) =>
    Object.fromEntries(all.filter(([name]) => (rareFields?.has(name) ?? false) === isRare))
  return { properties: those(false), rare: those(true), required }
})

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

const readings: ReadonlyMap<string, Reading> = new Map([
  ...kinds.flatMap(readingsOf),
  ['value', numberIn],
  ['maxUsdc', numberIn],
  ['confirmAnother', flagIn],
])

function readingsOf(kind: Kind): [string, Reading][] {
  return Object.entries(helpFor(kind)).flatMap(([name, { understood }]) =>
    understood === undefined ? [] : [[name, understood]],
  )
}

/**
 * Models send empty texts and nulls for what they leave out, numbers as text, and extra spaces. A text that was
 * accepted even without this stays letter by letter, or a repeated purchase would differ from the one before.
 */
export function understoodFields(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields).filter(([name, value]) => !isLeftOut(name, value))
  return Object.fromEntries(entries.map(([name, value]) => [name, readAs(name, value)]))
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
  return readings.get(name)?.(value) ?? value.trim()
}

function numberIn(text: string): unknown {
  const bare = text.trim()
  return /^\d{1,9}(\.\d{1,6})?$/.test(bare) ? Number(bare) : bare
}

export type ExampleBody = Readonly<Record<string, string | number | boolean>>

/** It passes the store's own checks. */
export function exampleBody(offer: Offer, retail: Retail): ExampleBody {
  const { fields } = kindOf(offer)
  const value = retail.type === 'RANGE' ? retail.min / 100 : 0
  const examples = requiredFieldsOf(offer).map((name) => [
    name,
    name === 'value' ? value : (fields[name]?.example(offer) ?? ''),
  ])
  return { offerId: offer.id, ...Object.fromEntries(examples) }
}
