import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../test/fixtures/offers.ts'
import { type Fault, Refusal } from '../lib/refusal.ts'
import { kinds } from './good.ts'
import type { Offer } from './offer.ts'
import { retailOf } from './pricing.ts'
import { bodySchemaFor, type Fields, kindSchemaFor, readLineItem } from './purchase-body.ts'

const card = voucher('CARD')
const openCard = voucher('OPEN', { price: open(500, 10_000, 250) })
const mailCard = voucher('MAIL', { requiredFields: ['recipient.email', 'sender.country'] })
const line = topup('LINE')
const openLine = topup('OPEN_LINE', { price: open(100, 5_000, 1) })
const plan = esim('PLAN')
const ada = { firstName: 'Ada', lastName: 'Lovelace' }
const number = { msisdn: '+50255551234' }

function faultsOf(offer: Offer, fields: Fields): readonly Fault[] {
  try {
    readLineItem(offer, { offerId: offer.id, ...fields })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(error.code).toBe('invalid_body')
    return error.details.faults ?? []
  }
  return []
}

/** The part of JSON Schema that the bodies use; any other keyword fails the test. */
const checks: Record<string, (value: unknown, rule: never) => boolean> = {
  type: (value, rule: string) => typeof value === rule,
  const: (value, rule: unknown) => value === rule,
  minLength: (value, rule: number) => [...String(value)].length >= rule,
  maxLength: (value, rule: number) => [...String(value)].length <= rule,
  pattern: (value, rule: string) => new RegExp(rule, 'u').test(String(value)),
  minimum: (value, rule: number) => Number(value) >= rule,
  maximum: (value, rule: number) => Number(value) <= rule,
  // Divides floats, as the common validators do.
  multipleOf: (value, rule: number) => Number.isInteger(Number(value) / rule),
  format: () => true,
  description: () => true,
}

interface BodySchema {
  readonly type: string
  readonly properties: Record<string, Record<string, never>>
  readonly required: readonly string[]
  readonly additionalProperties: boolean
}

function misfits(schema: Record<string, unknown>, body: Fields): string[] {
  const { properties, required, additionalProperties } = schema as unknown as BodySchema
  expect(additionalProperties).toBe(false)
  const missing = required.filter((name) => body[name] === undefined)
  const broken = Object.entries(body).flatMap(([name, value]) => {
    const rules = properties[name]
    if (rules === undefined) return [`${name}: unknown`]
    return Object.entries(rules)
      .filter(([rule, limit]) => !(checks[rule] ?? unknownRule(rule))(value, limit))
      .map(([rule]) => `${name}: ${rule}`)
  })
  return [...missing.map((name) => `${name}: missing`), ...broken]
}

function unknownRule(rule: string): never {
  throw new Error(`The schema has a rule that this test does not know: ${rule}`)
}

describe('the published schema of a body', () => {
  const name = fc.oneof(
    fc.constantFrom('Ada', 'José', '', ' ', 'a'.repeat(80), 'a'.repeat(81), 'A\nB', '李', 5),
    fc.string({ maxLength: 12 }).map((text) => text.trim()),
  )
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const value = fc.oneof(
    fc.integer({ min: 0, max: 12_000 }).map((amount) => amount / 100),
    fc.constantFrom('25', 25.001, -1),
  )
  const msisdn = fc.constantFrom('+50255551234', '+50455551234', '50255551234', 1)
  const iccid = fc.constantFrom(`89${'1'.repeat(17)}`, `89${'1'.repeat(18)}`, '89', '', 1)
  const email = fc.oneof(fc.emailAddress(), fc.constantFrom('ada', '', 'ada@example.com'))
  const country = fc.constantFrom('US', 'us', 'ZZ', 'USA', '')
  const offers = [card, openCard, mailCard, line, openLine, plan]
  const anyFields = fc.record(
    {
      firstName: optional(name),
      lastName: optional(name),
      email: optional(email),
      country: optional(country),
      msisdn: optional(msisdn),
      iccid: optional(iccid),
      value: optional(value),
      colour: optional(fc.constant('red')),
    },
    { requiredKeys: [] },
  )

  /** Mostly fields of the offer, so that enough bodies are accepted to be a test. */
  const bodies = fc
    .tuple(fc.constantFrom(...offers), anyFields, fc.nat(4))
    .map(([offer, fields, wildness]) => {
      const own = Object.keys(
        (bodySchemaFor(offer, retailOf(offer, fixturePricing())) as unknown as BodySchema)
          .properties,
      )
      const base = { voucher: ada, topup: number, esim: {} }[offer.kind]
      const kept = Object.entries({ ...base, ...fields }).filter(
        ([field, told]) => told !== undefined && (wildness === 0 || own.includes(field)),
      )
      return { offer, body: { offerId: offer.id, ...Object.fromEntries(kept) } }
    })

  test('fits every body that is taken, and no body of the wrong shape', () => {
    let taken = 0
    fc.assert(
      fc.property(bodies, ({ offer, body }) => {
        const retail = retailOf(offer, fixturePricing())
        const misfit = misfits(bodySchemaFor(offer, retail), body)
        const faults = faultsOf(offer, body)
        // The range of a value is checked by the pricing, not by the reader of the body.
        const ranged = misfit.some((rule) => /: (minimum|maximum|multipleOf)$/.test(rule))
        if (faults.length === 0 && !ranged) {
          expect(misfit).toEqual([])
          taken += 1
        }
        // Only faults that JSON Schema cannot express may be found by the reader alone.
        const told = faults.map(({ field }) => field)
        const unsaid = ['msisdn', 'country', 'email', 'value']
        if (misfit.length === 0) expect(told.filter((name) => !unsaid.includes(name))).toEqual([])
      }),
      { numRuns: 2_000 },
    )
    expect(taken).toBeGreaterThan(100)
  })

  test('takes every value on the increment, as validators that divide floats do it', () => {
    for (const increment of [1, 5, 10, 25, 33, 50, 100, 250]) {
      const offer = voucher('V', { price: open(increment * 2, increment * 400, increment) })
      const schema = bodySchemaFor(offer, retailOf(offer, fixturePricing()))
      for (let step = 2; step <= 400; step += 1) {
        const body = { offerId: 'V', ...ada, value: (step * increment) / 100 }
        expect(misfits(schema, body)).toEqual([])
      }
    }
  })

  test('says the step where it can be said exactly, and always in words', () => {
    const schema = bodySchemaFor(openCard, retailOf(openCard, fixturePricing()))
    expect(schema).toMatchObject({
      properties: {
        offerId: { const: 'OPEN' },
        value: {
          minimum: 5,
          maximum: 100,
          multipleOf: 2.5,
          description: 'US dollars, 5.00 plus steps of 2.50',
        },
      },
      required: ['offerId', 'firstName', 'lastName', 'value'],
    })
    const odd = voucher('V', { price: open(700, 1_000, 200) })
    expect(bodySchemaFor(odd, retailOf(odd, fixturePricing()))).not.toHaveProperty(
      'properties.value.multipleOf',
    )
  })

  test('does not offer a value where the price is fixed', () => {
    const offer = voucher('V', { price: fixed(100) })
    expect(bodySchemaFor(offer, retailOf(offer, fixturePricing()))).not.toHaveProperty(
      'properties.value',
    )
  })

  test('of a kind takes whatever an offer of that kind may ask for', () => {
    expect(kinds.map((kind) => (kindSchemaFor(kind) as unknown as BodySchema).required)).toEqual([
      ['offerId', 'firstName', 'lastName'],
      ['offerId', 'msisdn'],
      ['offerId'],
    ])
    expect(Object.keys((kindSchemaFor('esim') as unknown as BodySchema).properties)).toEqual([
      'offerId',
      'iccid',
      'maxUsdc',
      'webhookUrl',
    ])
  })
})
