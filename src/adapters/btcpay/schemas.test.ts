import { expect, it } from 'vitest'
import { z } from 'zod'
import { greenfield } from '../../../test/harness/greenfield.ts'
import {
  apiKeySchema,
  invoiceSchema,
  paymentMethodSchema,
  payoutProcessorSchema,
  payoutSchema,
  pullPaymentSchema,
  serverSchema,
  storeMethodSchema,
  storeRateSchema,
  storeSchema,
} from './greenfield.ts'

interface Shape {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
}

/** The shape itself, or the one that its pointer names in the document. */
function resolved(shape: Shape): Shape {
  const name = shape.$ref?.replace('#/schemas/', '')
  return name === undefined ? shape : resolved(greenfield.schemas[name] as Shape)
}

/** The type without null; an integer counts as a number. */
function typeOf({ type }: Shape): string | undefined {
  const [one] = [type ?? []].flat().filter((name) => name !== 'null')
  return one === 'integer' ? 'number' : one
}

/** The fields that the store reads and the document lacks or describes differently. */
function strangeIn(read: Shape, given: Shape, path = ''): readonly string[] {
  const ours = read.anyOf?.find(({ type }) => type !== 'null') ?? read
  const theirs = resolved(given)
  const types = [typeOf(ours), typeOf(theirs)]
  if (types[0] !== types[1]) return [`${path} is ${types[1]}, read as ${types[0]}`]
  if (ours.enum && ours.enum.join() !== [...(theirs.enum ?? [])].join()) {
    const missing = theirs.enum?.filter((one) => !ours.enum?.includes(one)) ?? []
    const made = ours.enum.filter((one) => !theirs.enum?.includes(one))
    return [...missing, ...made].map((one) => `${path} knows ${one} on one side only`)
  }
  const items = ours.items && theirs.items ? strangeIn(ours.items, theirs.items, `${path}[]`) : []
  const fields = Object.entries(ours.properties ?? {}).flatMap(([name, field]) => {
    const there = theirs.properties?.[name]
    // The document lists no fields of open objects (metadata).
    if (theirs.properties === undefined) return []
    return there ? strangeIn(field, there, `${path}.${name}`) : [`${path}.${name} is nowhere`]
  })
  return [...items, ...fields]
}

it.each<readonly [string, z.ZodType]>([
  ['InvoiceData', invoiceSchema],
  ['InvoicePaymentMethodDataModel', paymentMethodSchema],
  ['PullPaymentData', pullPaymentSchema],
  ['PayoutData', payoutSchema],
  ['ApplicationServerInfoData', serverSchema],
  ['StoreData', storeSchema],
  ['GenericPaymentMethodData', storeMethodSchema],
  ['StoreRateResult', storeRateSchema],
  ['ApiKeyData', apiKeySchema],
  ['PayoutProcessorData', payoutProcessorSchema],
])('reads of %s only what the document gives, as what it gives it', (name, schema) => {
  const read = z.toJSONSchema(schema) as Shape
  expect(strangeIn(read, { $ref: `#/schemas/${name}` })).toEqual([])
})
