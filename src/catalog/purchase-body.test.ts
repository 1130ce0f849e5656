import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  esim,
  fixtureNow,
  fixturePricing,
  open,
  topup,
  voucher,
} from '../../test/fixtures/offers.ts'
import { type Fault, Refusal } from '../lib/refusal.ts'
import { type Kind, kinds, type Offer } from './offer.ts'
import { retailOf } from './pricing.ts'
import {
  type BodyRules,
  bodySchemaFor,
  type Fields,
  kindSchemaFor,
  readLineItem,
  requiredFieldsOf,
  understoodFields,
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
const own = { voucher: ada, topup: number, esim: {} }

const now = fixtureNow

function faultsOf(offer: Offer, fields: Fields, rules: BodyRules = { now }): readonly Fault[] {
  try {
    readLineItem(offer, { offerId: offer.id, ...fields }, rules)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(error.code).toBe('invalid_body')
    return error.details.faults ?? []
  }
  return []
}

/** The only fault of a body. */
function faultOf(offer: Offer, fields: Fields): string {
  const faults = faultsOf(offer, fields)
  expect(faults).toHaveLength(1)
  return `${faults[0]?.field} ${faults[0]?.code}`
}

const ones = '1'.repeat(17)

describe('a body is taken', () => {
  test.each<[string, Offer, Fields, object, number | undefined]>([
    ['for a card', card, ada, { kind: 'voucher', ...ada }, undefined],
    ['for an open card', openCard, { ...ada, value: 12.5 }, { kind: 'voucher', ...ada }, 1_250],
    ['for a line', line, number, { kind: 'topup', ...number }, undefined],
    ['for an open line', openLine, { ...number, value: 4.35 }, { kind: 'topup' }, 435],
    ['for a plan', plan, {}, { kind: 'esim' }, undefined],
    ['for a recharge', plan, { iccid: `89${ones}` }, { kind: 'esim' }, undefined],
    ['in any case', card, { ...ada, country: 'us' }, { country: 'US' }, undefined],
    [
      'with names as people write them, without blanks around them',
      card,
      { firstName: '  José María ', lastName: "O'Brien-Ünlü 李" },
      { firstName: 'José María', lastName: "O'Brien-Ünlü 李" },
      undefined,
    ],
    [
      'with the joiners that some scripts need inside a name',
      card,
      { firstName: 'می\u200cلاد', lastName: 'ක්\u200dරිෂාන්' },
      { firstName: 'می\u200cلاد', lastName: 'ක්\u200dරිෂාන්' },
      undefined,
    ],
    [
      'with a phone number as it is understood',
      topup('FR', { country: 'FR' }),
      { msisdn: '+33 (0)6.12.34.56.78' },
      { msisdn: '+33612345678' },
      undefined,
    ],
  ])('%s', (_, offer, fields, recipient, value) => {
    const lineItem = readLineItem(offer, { offerId: offer.id, ...fields }, { now })
    expect(lineItem.recipient).toMatchObject(recipient)
    expect(lineItem.value).toBe(value)
  })

  test('with whole cents, whatever the float says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000 }), (amount) => {
        expect(readLineItem(openCard, { ...ada, value: amount / 100 }, { now }).value).toBe(amount)
      }),
    )
  })

  test('with any check digit of an ICCID', () => {
    for (const digit of '0123456789') {
      expect(faultsOf(plan, { iccid: `891234567890123456${digit}` })).toEqual([])
    }
  })
})

const refused: readonly [fault: string, offer: Offer, values: readonly unknown[]][] = [
  [
    'firstName malformed',
    card,
    [
      ...['', ' ', '\t', 'A\u0000da', 'A\nda', 'A\u007fda', 'A\u0085da', 'A\u202eda', 'A\ud800da'],
      ...['\u200c\u200d', 'a'.repeat(81), 1, null, true, [], ['Ada'], {}],
    ],
  ],
  [
    'email malformed',
    card,
    [
      ...['ada', 'ada@', '@example.com', 'ada@example', 'a da@example.com', 'ada@example.com\n'],
      ...[
        'ada@example.com, eve@example.com',
        `${'a'.repeat(250)}@example.com`,
        1,
        null,
        ['a@b.co'],
      ],
    ],
  ],
  ['email malformed', mailCard, ['']],
  ['country malformed', card, ['USA', 'U', 'ZZ', 'U1', 'U\n', 'United States', 1, null, ['US']]],
  [
    'msisdn malformed',
    line,
    ['', '50255551234', '+502/5555/1234', '+0255551234', 50_255_551_234, null, ['+502']],
  ],
  ['msisdn other_calling_code', line, ['+50455551234']],
  ['msisdn not_mobile', topup('DE', { country: 'DE' }), ['+4930123456']],
  ['msisdn unassigned_number', line, ['+502 1111-1111']],
  [
    'iccid malformed',
    plan,
    [
      ...['', `89${'1'.repeat(16)}`, `89${'1'.repeat(19)}`, `88${ones}`, `89${'1'.repeat(16)}F`],
      ...[`8949 ${'1'.repeat(15)}`, `89${'١'.repeat(17)}`, 8_911_111_111_111_111, null],
    ],
  ],
  [
    'value malformed',
    openCard,
    [
      ...[0, -5, 0.001, 12.345, 1e-7, 1e21, 0.1 + 0.2],
      ...['25', '$25', '25 USD', '25,00', null, true, [25], {}],
    ],
  ],
  ['value missing', openCard, [undefined, '']],
  ['value fixed_price', card, [25, 0, '25', null]],
]

test.each(refused)('%s', (fault, offer, values) => {
  const [field = ''] = fault.split(' ')
  const required = { ...own[offer.kind], ...(offer === mailCard ? { country: 'US' } : {}) }
  for (const value of values) {
    expect(faultOf(offer, { ...required, [field]: value }), JSON.stringify(value)).toBe(fault)
  }
})

test('a buyer may insist on a number that no plan has, and on no other', () => {
  const msisdn = '+502 1111-1111'
  expect(faultOf(line, { msisdn, confirmNumber: false })).toBe('msisdn unassigned_number')
  expect(faultOf(line, { msisdn, confirmNumber: 'true' })).toBe('confirmNumber malformed')
  const insisting = { msisdn, confirmNumber: true, confirmAnother: 'yes' }
  expect(faultOf(line, insisting)).toBe('confirmAnother malformed')
  expect(readLineItem(line, { msisdn, confirmNumber: true }, { now })).toEqual({
    recipient: { kind: 'topup', msisdn: '+50211111111' },
    value: undefined,
  })
  const dominican = topup('DO', { country: 'DO' })
  for (const other of ['+14155550123', '+1809', '+50255551234']) {
    expect(faultOf(dominican, { msisdn: other, confirmNumber: true })).toMatch(/^msisdn /)
  }
})

test('what is wrong with every field is told at once, whatever else is wrong', () => {
  const rules = { now, rangeFault: () => ({ code: 'fixed_price' }) as const }
  const fieldsOf = (...body: Parameters<typeof faultsOf>) =>
    faultsOf(...body)
      .map(({ field }) => field)
      .sort()
  const told = { firstName: '', country: 'ZZ', value: 500 }
  expect(fieldsOf(openCard, told, rules)).toEqual(['country', 'firstName', 'lastName', 'value'])
  const foreign = { msisdn: '+50455551234', value: 500 }
  expect(fieldsOf(openLine, foreign, rules)).toEqual(['msisdn', 'value'])
  expect(fieldsOf(mailCard, { firstName: '', colour: 'red', email: 'x', value: 1 })).toEqual([
    'colour',
    'country',
    'email',
    'firstName',
    'lastName',
    'value',
  ])
})

test.each<[Offer, string, string]>([
  [card, 'firstname', 'firstName'],
  [card, 'fristName', 'firstName'],
  [card, 'first_name', 'firstName'],
  [card, 'offerid', 'offerId'],
  [card, 'Value', 'value'],
  [card, 'emails', 'email'],
  [line, 'msidn', 'msisdn'],
  [line, 'phone', 'msisdn'],
  [plan, 'ICCID', 'iccid'],
  [card, 'msisdn', ''],
  [line, 'firstName', ''],
  [plan, 'email', ''],
  [card, 'recipient', ''],
  [card, 'kind', ''],
  [card, 'x', ''],
  [card, '', ''],
  [card, 'constructor', ''],
])('a field that does not belong is refused: %s with %j', (offer, name, meant) => {
  expect(faultsOf(offer, { ...own[offer.kind], [name]: 'x' })).toEqual([
    { field: name, code: 'unknown_field', ...(meant && { didYouMean: meant }) },
  ])
})

const mexican = topup('MX', { country: 'MX' })

test.each<[Offer, Fields, string | number | undefined]>([
  [openCard, { value: '25' }, 25],
  [openCard, { value: '$25' }, 25],
  [openCard, { value: '12.50 USD' }, 12.5],
  [openCard, { value: '25,00' }, 25],
  [openCard, { value: 'US$ 1,000.50' }, 1_000.5],
  [line, { msisdn: '50255551234' }, '+50255551234'],
  [line, { msisdn: 50_255_551_234 }, '+50255551234'],
  [line, { msisdn: '(+502) 5555-1234' }, '+50255551234'],
  [line, { msisdn: '0050255551234' }, '+50255551234'],
  [line, { msisdn: '5555 1234' }, '+50255551234'],
  [mexican, { msisdn: '+5215512345678' }, '+525512345678'],
  [card, { country: 'United States' }, 'US'],
  [card, { country: 'Germny' }, 'DE'],
  [card, { country: 'USA' }, 'US'],
  [card, { email: ' ada@example.com' }, 'ada@example.com'],
  [plan, { iccid: '8911 1111 1111 1111 111' }, '8911111111111111111'],
  // Nothing is made up.
  [openCard, { value: '25 or 50' }, undefined],
  [openCard, { value: 'all of it' }, undefined],
  [openCard, { value: 0 }, undefined],
  [line, { msisdn: '555' }, undefined],
  [card, { country: 'Atlantis' }, undefined],
  [plan, { iccid: Number('8911111111111111111') }, undefined],
])('of $kind with %j it is told what was probably meant: %s', (offer, fields, meant) => {
  expect(faultsOf(offer, { ...own[offer.kind], ...fields })[0]?.didYouMean).toBe(meant)
})

test.each<[string, Offer, string[]]>([
  ['a card', card, ['firstName', 'lastName']],
  ['an open card', openCard, ['firstName', 'lastName', 'value']],
  ['a card that asks', mailCard, ['firstName', 'lastName', 'email', 'country']],
  ['a line', line, ['msisdn']],
  ['an open line', openLine, ['msisdn', 'value']],
  ['a plan', plan, []],
])('what %s requires is named', (_, offer, names) => {
  expect(requiredFieldsOf(offer)).toEqual(names)
  const missing = faultsOf(offer, {}).map(({ field, code }) => `${field} ${code}`)
  expect(missing.toSorted()).toEqual(names.map((name) => `${name} missing`).toSorted())
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

  test.each<[Kind, Fields, Fields, boolean]>([
    ['voucher', { offerId: 'card-1', country: 'us' }, { offerId: 'CARD-1', country: 'US' }, true],
    ['voucher', { firstName: ' Ada ' }, { firstName: 'Ada' }, true],
    ['voucher', { maxUsdc: 30 }, { maxUsdc: 40 }, true],
    ['esim', { confirmAnother: true }, {}, true],
    ['voucher', { recipientMsisdn: '+1 202' }, { recipientMsisdn: '+1202' }, true],
    ['voucher', { senderAddressCountry: 'de' }, { senderAddressCountry: 'DE' }, true],
    ['voucher', { recipientMsisdn: '+1203' }, { recipientMsisdn: '+1202' }, false],
    ['voucher', { deliveryMessage: 'Hi' }, { deliveryMessage: 'hi' }, false],
    ['topup', { msisdn: '+1 (202) 555-0123' }, { msisdn: '+12025550123' }, true],
    ['voucher', { offerId: 'CARD 1' }, { offerId: 'CARD-1' }, false],
    ['voucher', { firstName: 'ada' }, { firstName: 'Ada' }, false],
    ['voucher', { email: 'ADA@example.com' }, { email: 'ada@example.com' }, false],
    ['voucher', { value: 25 }, { value: '25' }, false],
    ['topup', { msisdn: '+12025550124' }, { msisdn: '+12025550123' }, false],
    ['topup', { msisdn: '12025550123' }, { msisdn: '+12025550123' }, false],
  ])('of a %s with %o and with %o is the same: %s', (kind, one, other, isSame) => {
    expect(wordingOf(kind, one) === wordingOf(kind, other)).toBe(isSame)
  })
})

test.each<[string, Fields, Fields]>([
  ['nulls', { iccid: null, email: null }, {}],
  ['empty texts', { email: '', country: ' ', firstName: '' }, {}],
  ['no value', { value: 0 }, {}],
  ['no value as text', { value: ' 0 ' }, {}],
  ['one of it', { quantity: 1, qty: '1' }, {}],
  ['a number as text', { value: ' 12.50 ', maxUsdc: '30' }, { value: 12.5, maxUsdc: 30 }],
  ['a flag as text', { confirmNumber: 'True' }, { confirmNumber: true }],
  ['another flag', { confirmAnother: ' false' }, { confirmAnother: false }],
  ['spaces around', { offerId: ' A ', email: 'a@b.co ' }, { offerId: 'A', email: 'a@b.co' }],
  ['groups of digits', { iccid: '8901 4103-2111 1851072' }, { iccid: '8901410321111851072' }],
  ['brackets', { msisdn: '(+34) 600 12 34 56' }, { msisdn: '+34600123456' }],
  ['wide gaps', { msisdn: '+1   202   5550123' }, { msisdn: '+12025550123' }],
])('%s are understood', (_, fields, meant) => {
  expect(understoodFields(fields)).toEqual(meant)
})

test.each<[string, Fields]>([
  ['several', { quantity: 2 }],
  ['no maximum', { maxUsdc: '' }],
  ['a currency', { value: '$25' }],
  ['two numbers', { value: '1,000' }],
  ['a number of a country', { msisdn: '600 12 34 56' }],
  ['a dialling prefix', { msisdn: '0034600123456' }],
  ['a zero in brackets', { msisdn: '(+44) (0)7911 123456' }],
  ['an invisible sign', { msisdn: '\u200e+34600123456' }],
  ['a name', { firstName: ' Ada ' }],
  ['a name that every object has', { constructor: '1', toString: '1' }],
  // Was always accepted as it is, so a repeated purchase must keep the same wording.
  ['a spaced number', { msisdn: '+34 600 12 34 56' }],
])('%s is left for its reader', (_, fields) => {
  expect(understoodFields(fields)).toEqual(fields)
})

describe('the published schema of a body', () => {
  const ajv = addFormats.default(new Ajv2020({ allErrors: true }))
  const schemaOf = (offer: Offer) => bodySchemaFor(offer, retailOf(offer, fixturePricing()))
  const offers = [card, openCard, mailCard, line, openLine, plan]
  const checks = new Map(offers.map((offer) => [offer.id, ajv.compile(schemaOf(offer))]))
  /** The keywords that a body breaks. */
  const broken = ({ id }: Offer, body: Fields) => {
    const check = checks.get(id)
    return check?.(body) ? [] : (check?.errors ?? []).map(({ keyword }) => keyword)
  }

  const fields = {
    firstName: fc.oneof(
      fc.constantFrom('Ada', 'José', '', ' ', 'a'.repeat(80), 'a'.repeat(81), 'A\nB', '李', 5),
      fc.string({ maxLength: 12 }).map((text) => text.trim()),
    ),
    email: fc.oneof(fc.emailAddress(), fc.constantFrom('ada', '', 'ada@example.com')),
    country: fc.constantFrom('US', 'us', 'ZZ', 'USA', ''),
    msisdn: fc.constantFrom('+50255551234', '+50455551234', '50255551234', 1),
    iccid: fc.constantFrom(`89${ones}`, `89${ones}1`, '89', '', 1),
    value: fc.oneof(
      fc.integer({ min: 0, max: 12_000 }).map((amount) => amount / 100),
      fc.constantFrom('25', 25.001, -1),
    ),
    colour: fc.constant('red'),
  }
  /** Mostly fields of the offer, so that enough bodies are accepted to be a test. */
  const bodies = fc
    .tuple(fc.constantFrom(...offers), fc.record(fields, { requiredKeys: [] }), fc.nat(4))
    .map(([offer, given, wildness]) => {
      const known = Object.keys(schemaOf(offer)['properties'] as object)
      const all = Object.entries({ ...own[offer.kind], ...given })
      const kept = all.filter(([name]) => wildness === 0 || known.includes(name))
      return { offer, body: { offerId: offer.id, ...Object.fromEntries(kept) } }
    })

  test('fits every body that is taken, and no body of the wrong shape', () => {
    let taken = 0
    fc.assert(
      fc.property(bodies, ({ offer, body }) => {
        const misfits = broken(offer, body)
        const faults = faultsOf(offer, body).map(({ field }) => field)
        // The range of a value is checked by the pricing, not by the reader of the body.
        const isRanged = misfits.some((rule) => ['minimum', 'maximum', 'multipleOf'].includes(rule))
        if (faults.length === 0 && !isRanged) {
          expect(misfits).toEqual([])
          taken += 1
        }
        // Only faults that JSON Schema cannot express may be found by the reader alone.
        const unsaid = ['msisdn', 'country', 'email', 'value']
        if (misfits.length === 0) expect(unsaid).toEqual(expect.arrayContaining(faults))
      }),
      { numRuns: 2_000 },
    )
    expect(taken).toBeGreaterThan(100)
  })

  test('takes every value on the increment, as validators that divide floats do it', () => {
    for (const increment of [1, 5, 10, 25, 33, 50, 100, 250]) {
      const offer = voucher('V', { price: open(increment * 2, increment * 400, increment) })
      const check = ajv.compile(schemaOf(offer))
      for (let step = 2; step <= 400; step += 1) {
        expect(check({ offerId: 'V', ...ada, value: (step * increment) / 100 })).toBe(true)
      }
    }
  })

  test('says the step where it can be said exactly, and always in words', () => {
    expect(schemaOf(openCard)).toMatchObject({
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
    expect(schemaOf(odd)).not.toHaveProperty('properties.value.multipleOf')
    expect(schemaOf(card)).not.toHaveProperty('properties.value')
  })

  test('of a kind takes whatever an offer of that kind may ask for', () => {
    expect(kinds.map((kind) => kindSchemaFor(kind)['required'])).toEqual([
      ['offerId', 'firstName', 'lastName'],
      ['offerId', 'msisdn'],
      ['offerId'],
    ])
    expect(Object.keys(kindSchemaFor('esim')['properties'] as object)).toEqual([
      'offerId',
      'iccid',
      'maxUsdc',
      'webhookUrl',
      'confirmAnother',
    ])
  })
})
