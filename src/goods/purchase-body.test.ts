import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../test/fixtures/offers.ts'
import { type Fault, Refusal } from '../primitives/refusal.ts'
import { kinds } from './good.ts'
import type { Offer } from './offer.ts'
import { retailOf } from './pricing.ts'
import {
  bodySchemaFor,
  type Fields,
  kindSchemaFor,
  readWish,
  requiredFieldsOf,
  wordingOf,
} from './purchase-body.ts'

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
    readWish(offer, { offerId: offer.id, ...fields })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(error.code).toBe('invalid_body')
    return error.details.errors ?? []
  }
  return []
}

/** The one fault of a body. */
function faultOf(offer: Offer, fields: Fields): string {
  const faults = faultsOf(offer, fields)
  expect(faults).toHaveLength(1)
  return `${faults[0]?.parameter} ${faults[0]?.message}`
}

describe('a body is taken', () => {
  test.each<[string, Offer, Fields, object, number | undefined]>([
    ['for a card', card, ada, { kind: 'voucher', ...ada }, undefined],
    ['for an open card', openCard, { ...ada, value: 12.5 }, { kind: 'voucher', ...ada }, 1_250],
    ['for a line', line, number, { kind: 'topup', ...number }, undefined],
    ['for an open line', openLine, { ...number, value: 4.35 }, { kind: 'topup' }, 435],
    ['for a plan', plan, {}, { kind: 'esim' }, undefined],
    ['for a recharge', plan, { iccid: `89${'1'.repeat(17)}` }, { kind: 'esim' }, undefined],
  ])('%s', (_, offer, fields, recipient, value) => {
    const wish = readWish(offer, { offerId: offer.id, ...fields })
    expect(wish.recipient).toMatchObject(recipient)
    expect(wish.value).toBe(value)
  })

  test('with names as people write them, without blanks around them', () => {
    const told = { firstName: '  José María ', lastName: "O'Brien-Ünlü 李" }
    expect(readWish(card, told).recipient).toMatchObject({
      firstName: 'José María',
      lastName: "O'Brien-Ünlü 李",
    })
  })

  test('with a country in any case', () => {
    expect(readWish(card, { ...ada, country: 'us' }).recipient).toMatchObject({ country: 'US' })
  })

  test('with whole cents, whatever the float says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000 }), (amount) => {
        const wish = readWish(openCard, { ...ada, value: amount / 100 })
        expect(wish.value).toBe(amount)
      }),
    )
  })
})

describe('a name is refused', () => {
  test.each([
    '',
    ' ',
    '\t',
    'A\u0000da',
    'A\nda',
    'A\u007fda',
    'A\u0085da',
    'A\u202eda',
    'A\ud800da',
    'a'.repeat(81),
    1,
    null,
    true,
    [],
    ['Ada'],
    {},
  ])('%j', (firstName) => {
    expect(faultOf(card, { ...ada, firstName })).toBe(
      'firstName must be text of 1 to 80 characters without control characters',
    )
  })

  test('when it is missing', () => {
    expect(faultOf(card, { firstName: 'Ada' })).toBe('lastName is required for this offer')
  })
})

describe('an e-mail address is refused', () => {
  test.each([
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'a da@example.com',
    'ada@example.com\n',
    'ada@example.com, eve@example.com',
    `${'a'.repeat(250)}@example.com`,
    1,
    null,
    ['ada@example.com'],
  ])('%j', (email) => {
    expect(faultOf(card, { ...ada, email })).toBe('email must be an e-mail address')
  })
})

describe('a country is refused', () => {
  test.each(['USA', 'U', 'ZZ', 'U1', 'U\n', 'United States', 1, null, ['US']])('%j', (country) => {
    expect(faultOf(card, { ...ada, country })).toBe(
      'country must be an ISO 3166-1 alpha-2 code such as US',
    )
  })
})

describe('a phone number is refused', () => {
  test.each(['', '50255551234', '+502 5555 1234', '+0255551234', 50_255_551_234, null, ['+502']])(
    '%j',
    (msisdn) => {
      expect(faultOf(line, { msisdn })).toContain('msisdn must be in E.164 form')
    },
  )

  test('when it is missing, of another country or fixed', () => {
    expect(faultOf(line, {})).toBe('msisdn is required for this offer')
    expect(faultOf(line, { msisdn: '+50455551234' })).toContain('msisdn has the calling code +504')
    const german = topup('DE', { country: 'DE' })
    expect(faultOf(german, { msisdn: '+4930123456' })).toBe('msisdn is not a mobile number')
  })
})

describe('an ICCID is refused', () => {
  test.each([
    '',
    `89${'1'.repeat(16)}`,
    `89${'1'.repeat(19)}`,
    `88${'1'.repeat(17)}`,
    `89${'1'.repeat(16)}F`,
    `8949 ${'1'.repeat(15)}`,
    `89${'١'.repeat(17)}`,
    8_911_111_111_111_111,
    null,
  ])('%j', (iccid) => {
    expect(faultOf(plan, { iccid })).toContain('iccid must be the 19 or 20 digits')
  })

  test('but not for a wrong check digit', () => {
    for (const digit of '0123456789') {
      expect(faultsOf(plan, { iccid: `891234567890123456${digit}` })).toEqual([])
    }
  })
})

describe('a value is refused', () => {
  test.each([
    0,
    -5,
    0.001,
    12.345,
    1e-7,
    1e21,
    0.1 + 0.2,
    '25',
    '$25',
    '25 USD',
    '25,00',
    null,
    true,
    [25],
    {},
  ])('%j: not dollars and cents', (value) => {
    expect(faultOf(openCard, { ...ada, value })).toBe(
      'value must be a number of US dollars with at most 2 decimals, such as 25 or 12.5',
    )
  })

  test.each([undefined, ''])('%j: missing', (value) => {
    expect(faultOf(openCard, { ...ada, value })).toBe('value is required for this offer')
  })

  test.each([25, 0, '25', null])('%j on a fixed price', (value) => {
    expect(faultOf(card, { ...ada, value })).toBe('value is only for open-value (RANGE) offers')
  })
})

describe('a field that does not belong is refused', () => {
  test.each<[Offer, string, string]>([
    [card, 'firstname', '; did you mean firstName?'],
    [card, 'fristName', '; did you mean firstName?'],
    [card, 'offerid', '; did you mean offerId?'],
    [card, 'Value', '; did you mean value?'],
    [card, 'emails', '; did you mean email?'],
    [line, 'msidn', '; did you mean msisdn?'],
    [plan, 'ICCID', '; did you mean iccid?'],
    [card, 'msisdn', ''],
    [line, 'firstName', ''],
    [plan, 'email', ''],
    [card, 'recipient', ''],
    [card, 'kind', ''],
    [card, 'x', ''],
    [card, '', ''],
    [card, 'constructor', ''],
  ])('%s: %j', (offer, name, meant) => {
    const told = { voucher: ada, topup: number, esim: {} }[offer.kind]
    expect(faultOf(offer, { ...told, [name]: 'x' })).toBe(
      `${name} is not a field of this purchase${meant}`,
    )
  })
})

describe('what an offer requires', () => {
  test.each<[string, Offer, string[]]>([
    ['a card', card, ['firstName', 'lastName']],
    ['an open card', openCard, ['firstName', 'lastName', 'value']],
    ['a card that asks', mailCard, ['firstName', 'lastName', 'email', 'country']],
    ['a line', line, ['msisdn']],
    ['an open line', openLine, ['msisdn', 'value']],
    ['a plan', plan, []],
  ])('is named: %s', (_, offer, names) => {
    expect(requiredFieldsOf(offer)).toEqual(names)
    const asked = faultsOf(offer, {}).map(({ parameter }) => parameter)
    expect(asked.toSorted()).toEqual(names.toSorted())
  })

  test('is asked for once, also when it is there but empty', () => {
    expect(faultOf(mailCard, { ...ada, email: '', country: 'US' })).toContain('email ')
    expect(faultOf(mailCard, { ...ada, email: 'ada@example.com', country: '' })).toContain(
      'country ',
    )
  })

  test('is all listed at once, beside every other fault', () => {
    const fields = { firstName: '', colour: 'red', email: 'x', value: 1 }
    const faults = faultsOf(mailCard, fields).map(({ parameter }) => parameter)
    expect(faults.toSorted()).toEqual(
      ['colour', 'country', 'email', 'firstName', 'lastName', 'value'].toSorted(),
    )
  })
})

/** As much of JSON Schema as the bodies use; anything else in a schema fails the test. */
const checks: Record<string, (value: unknown, rule: never) => boolean> = {
  type: (value, rule: string) => typeof value === rule,
  const: (value, rule: unknown) => value === rule,
  minLength: (value, rule: number) => [...String(value)].length >= rule,
  maxLength: (value, rule: number) => [...String(value)].length <= rule,
  pattern: (value, rule: string) => new RegExp(rule, 'u').test(String(value)),
  minimum: (value, rule: number) => Number(value) >= rule,
  maximum: (value, rule: number) => Number(value) <= rule,
  // As the common validators do it: by dividing floats.
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

  /** Mostly what the offer asks for, so that bodies are taken often enough to tell something. */
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
        // Whether a chosen value is in range is for the price to say, not for the reader.
        const ranged = misfit.some((rule) => /: (minimum|maximum|multipleOf)$/.test(rule))
        if (faults.length === 0 && !ranged) {
          expect(misfit).toEqual([])
          taken += 1
        }
        // Only what JSON Schema cannot say may be found by reading alone.
        const told = faults.map(({ parameter }) => parameter)
        const unsaid = ['msisdn', 'country', 'email', 'value']
        if (misfit.length === 0) expect(told.filter((name) => !unsaid.includes(name))).toEqual([])
      }),
      { numRuns: 2_000 },
    )
    expect(taken).toBeGreaterThan(200)
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
    ])
  })
})

describe('the wording of a request', () => {
  test('is the same whatever the order of its fields, and differs with anything else', () => {
    const field = fc.tuple(fc.string(), fc.oneof(fc.string(), fc.double(), fc.boolean()))
    fc.assert(
      fc.property(fc.uniqueArray(field, { selector: ([name]) => name }), (entries) => {
        const fields = Object.fromEntries(entries)
        const shuffled = Object.fromEntries(entries.toReversed())
        const wording = wordingOf('voucher', fields)
        expect(wordingOf('voucher', shuffled)).toBe(wording)
        expect(wordingOf('topup', fields)).not.toBe(wording)
        expect(wordingOf('voucher', { ...fields, '\u0001more': 1 })).not.toBe(wording)
      }),
    )
  })

  test('tells a number from the same digits as text', () => {
    expect(wordingOf('voucher', { value: 25 })).not.toBe(wordingOf('voucher', { value: '25' }))
  })
})
