import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { esim, open, topup, voucher } from '../../test/fixtures/offers.ts'
import { type Fault, type FaultReason, Refusal } from '../lib/refusal.ts'
import type { Kind, Offer } from './offer.ts'
import {
  type Fields,
  readLineItem,
  requiredFieldsOf,
  understood,
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
    readLineItem(offer, { offerId: offer.id, ...fields })
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

describe('a body is taken', () => {
  test.each<[string, Offer, Fields, object, number | undefined]>([
    ['for a card', card, ada, { kind: 'voucher', ...ada }, undefined],
    ['for an open card', openCard, { ...ada, value: 12.5 }, { kind: 'voucher', ...ada }, 1_250],
    ['for a line', line, number, { kind: 'topup', ...number }, undefined],
    ['for an open line', openLine, { ...number, value: 4.35 }, { kind: 'topup' }, 435],
    ['for a plan', plan, {}, { kind: 'esim' }, undefined],
    ['for a recharge', plan, { iccid: `89${'1'.repeat(17)}` }, { kind: 'esim' }, undefined],
  ])('%s', (_, offer, fields, recipient, value) => {
    const lineItem = readLineItem(offer, { offerId: offer.id, ...fields })
    expect(lineItem.recipient).toMatchObject(recipient)
    expect(lineItem.value).toBe(value)
  })

  test('with names as people write them, without blanks around them', () => {
    const told = { firstName: '  José María ', lastName: "O'Brien-Ünlü 李" }
    expect(readLineItem(card, told).recipient).toMatchObject({
      firstName: 'José María',
      lastName: "O'Brien-Ünlü 李",
    })
  })

  test('with the joiners that some scripts need inside a name, and not with these alone', () => {
    const told = { firstName: 'می\u200cلاد', lastName: 'ක්\u200dරිෂාන්' }
    expect(readLineItem(card, told).recipient).toMatchObject(told)
    expect(faultOf(card, { ...told, lastName: '\u200c\u200d' })).toMatch(/^lastName/)
  })

  test('with a country in any case', () => {
    expect(readLineItem(card, { ...ada, country: 'us' }).recipient).toMatchObject({ country: 'US' })
  })

  test('with whole cents, whatever the float says', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000_000 }), (amount) => {
        const lineItem = readLineItem(openCard, { ...ada, value: amount / 100 })
        expect(lineItem.value).toBe(amount)
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
    expect(faultOf(card, { ...ada, firstName })).toBe('firstName malformed')
  })

  test('when it is missing', () => {
    expect(faultOf(card, { firstName: 'Ada' })).toBe('lastName missing')
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
    expect(faultOf(card, { ...ada, email })).toBe('email malformed')
  })
})

describe('a country is refused', () => {
  test.each(['USA', 'U', 'ZZ', 'U1', 'U\n', 'United States', 1, null, ['US']])('%j', (country) => {
    expect(faultOf(card, { ...ada, country })).toBe('country malformed')
  })
})

describe('a phone number is refused', () => {
  test.each(['', '50255551234', '+502/5555/1234', '+0255551234', 50_255_551_234, null, ['+502']])(
    '%j',
    (msisdn) => {
      expect(faultOf(line, { msisdn })).toBe('msisdn malformed')
    },
  )

  test('when it is missing, of another country or fixed', () => {
    expect(faultOf(line, {})).toBe('msisdn missing')
    expect(faultOf(line, { msisdn: '+50455551234' })).toBe('msisdn other_calling_code')
    const german = topup('DE', { country: 'DE' })
    expect(faultOf(german, { msisdn: '+4930123456' })).toBe('msisdn not_mobile')
  })

  test('when no numbering plan has it, unless the buyer insists', () => {
    const msisdn = '+502 1111-1111'
    expect(faultOf(line, { msisdn })).toBe('msisdn unassigned_number')
    expect(faultOf(line, { msisdn, confirmNumber: false })).toBe('msisdn unassigned_number')
    expect(faultOf(line, { msisdn, confirmNumber: 'true' })).toBe('confirmNumber malformed')
    expect(readLineItem(line, { msisdn, confirmNumber: true })).toEqual({
      recipient: { kind: 'topup', msisdn: '+50211111111' },
      value: undefined,
    })
  })

  test('whoever insists on it, when it is of another country or impossible', () => {
    const dominican = topup('DO', { country: 'DO' })
    for (const msisdn of ['+14155550123', '+1809', '+50255551234']) {
      expect(faultOf(dominican, { msisdn, confirmNumber: true })).toMatch(/^msisdn /)
    }
  })
})

test('what is wrong with every field is told at once, whatever else is wrong', () => {
  const value = () => ({ code: 'fixed_price' }) as const
  const told = { firstName: '', country: 'ZZ', value: 500 }
  const all = ['country', 'firstName', 'lastName', 'value']
  expect(refusedFor(openCard, told, value).sort()).toEqual(all)
  const line = { msisdn: '+50455551234', value: 500 }
  expect(refusedFor(openLine, line, value).sort()).toEqual(['msisdn', 'value'])
})

function refusedFor(offer: Offer, fields: Fields, rangeFault: () => FaultReason): string[] {
  try {
    readLineItem(offer, fields, { rangeFault })
  } catch (error) {
    if (error instanceof Refusal) return (error.details.faults ?? []).map(({ field }) => field)
  }
  return []
}

test('a phone number is passed on as it is understood', () => {
  const french = topup('FR', { country: 'FR' })
  for (const msisdn of ['+330612345678', '+33 6 12 34 56 78', '+33 (0)6.12.34.56.78']) {
    expect(readLineItem(french, { msisdn }).recipient).toEqual({
      kind: 'topup',
      msisdn: '+33612345678',
    })
  }
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
    expect(faultOf(plan, { iccid })).toBe('iccid malformed')
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
    expect(faultOf(openCard, { ...ada, value })).toBe('value malformed')
  })

  test.each([undefined, ''])('%j: missing', (value) => {
    expect(faultOf(openCard, { ...ada, value })).toBe('value missing')
  })

  test.each([25, 0, '25', null])('%j on a fixed price', (value) => {
    expect(faultOf(card, { ...ada, value })).toBe('value fixed_price')
  })
})

describe('a field that does not belong is refused', () => {
  test.each<[Offer, string, string]>([
    [card, 'firstname', 'firstName'],
    [card, 'fristName', 'firstName'],
    [card, 'offerid', 'offerId'],
    [card, 'Value', 'value'],
    [card, 'emails', 'email'],
    [line, 'msidn', 'msisdn'],
    [plan, 'ICCID', 'iccid'],
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
    expect(faultsOf(offer, { ...told, [name]: 'x' })).toEqual([
      { field: name, code: 'unknown_field', ...(meant && { didYouMean: meant }) },
    ])
  })
})

describe('what was probably meant is told', () => {
  test.each<[string, Offer, Fields, string | number]>([
    ['an amount as text', openCard, { ...ada, value: '25' }, 25],
    ['a dollar sign', openCard, { ...ada, value: '$25' }, 25],
    ['a currency behind it', openCard, { ...ada, value: '12.50 USD' }, 12.5],
    ['a decimal comma', openCard, { ...ada, value: '25,00' }, 25],
    ['commas between thousands', openCard, { ...ada, value: 'US$ 1,000.50' }, 1_000.5],
    ['a phone number without plus', line, { msisdn: '50255551234' }, '+50255551234'],
    ['a phone number as a number', line, { msisdn: 50_255_551_234 }, '+50255551234'],
    ['blanks and brackets', line, { msisdn: '(+502) 5555-1234' }, '+50255551234'],
    ['two zeros', line, { msisdn: '0050255551234' }, '+50255551234'],
    ['as dialled in the country', line, { msisdn: '5555 1234' }, '+50255551234'],
    ['a country by its name', card, { ...ada, country: 'United States' }, 'US'],
    ['a country misspelt', card, { ...ada, country: 'Germny' }, 'DE'],
    ['three letters', card, { ...ada, country: 'USA' }, 'US'],
    ['a mail address with a blank', card, { ...ada, email: ' ada@example.com' }, 'ada@example.com'],
    [
      'an old Mexican number',
      topup('MX', { country: 'MX' }),
      { msisdn: '+5215512345678' },
      '+525512345678',
    ],
    ['an ICCID in groups', plan, { iccid: '8911 1111 1111 1111 111' }, '8911111111111111111'],
    ['another word for a field', line, { ...number, phone: 'x' }, 'msisdn'],
    ['another way to write a field', card, { ...ada, first_name: 'Ada' }, 'firstName'],
  ])('%s', (_, offer, fields, meant) => {
    const [fault] = faultsOf(offer, fields)
    expect(fault?.didYouMean).toBe(meant)
  })

  test.each<[string, Offer, Fields]>([
    ['two amounts', openCard, { ...ada, value: '25 or 50' }],
    ['no amount', openCard, { ...ada, value: 'all of it' }],
    ['part of a number', line, { msisdn: '555' }],
    ['no country', card, { ...ada, country: 'Atlantis' }],
    ['an ICCID that is no exact number', plan, { iccid: Number('8911111111111111111') }],
    ['no field', card, { ...ada, gift: 'x' }],
  ])('but nothing is made up: %s', (_, offer, fields) => {
    expect(faultsOf(offer, fields)[0]).not.toHaveProperty('didYouMean')
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
    const asked = faultsOf(offer, {}).map(({ field }) => field)
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
    const faults = faultsOf(mailCard, fields).map(({ field }) => field)
    expect(faults.toSorted()).toEqual(
      ['colour', 'country', 'email', 'firstName', 'lastName', 'value'].toSorted(),
    )
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

  test.each<[Kind, Record<string, string>, Record<string, string>]>([
    ['voucher', { offerId: 'card-1', country: 'us' }, { offerId: 'CARD-1', country: 'US' }],
    ['voucher', { firstName: ' Ada ' }, { firstName: 'Ada' }],
    ['topup', { msisdn: '+1 (202) 555-0123' }, { msisdn: '+12025550123' }],
  ])('of a %s is the same in every spelling of %o', (kind, given, same) => {
    expect(wordingOf(kind, given)).toBe(wordingOf(kind, same))
  })

  test.each<[Kind, Record<string, string>]>([
    ['voucher', { offerId: 'CARD 1' }],
    ['voucher', { firstName: 'ada' }],
    ['voucher', { email: 'ADA@example.com' }],
    ['topup', { msisdn: '+12025550124' }],
    ['topup', { msisdn: '12025550123' }],
  ])('of a %s differs for %o', (kind, other) => {
    const fields = {
      offerId: 'CARD-1',
      firstName: 'Ada',
      email: 'ada@example.com',
      msisdn: '+12025550123',
    }
    expect(wordingOf(kind, { ...fields, ...other })).not.toBe(wordingOf(kind, fields))
  })

  test('tells a number from the same digits as text', () => {
    expect(wordingOf('voucher', { value: 25 })).not.toBe(wordingOf('voucher', { value: '25' }))
  })
})

const lrm = '\u200e'

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['nulls', { iccid: null, email: null }, {}],
  ['empty texts', { email: '', country: ' ', firstName: '' }, {}],
  ['no value', { value: 0 }, {}],
  ['no value as text', { value: ' 0 ' }, {}],
  ['one of it', { quantity: 1, qty: '1' }, {}],
  ['a number as text', { value: ' 12.50 ', maxUsdc: '30' }, { value: 12.5, maxUsdc: 30 }],
  ['a flag as text', { confirmNumber: 'True' }, { confirmNumber: true }],
  ['spaces around', { offerId: ' A ', email: 'a@b.co ' }, { offerId: 'A', email: 'a@b.co' }],
  ['groups of digits', { iccid: '8901 4103-2111 1851072' }, { iccid: '8901410321111851072' }],
  ['brackets', { msisdn: '(+34) 600 12 34 56' }, { msisdn: '+34600123456' }],
  ['wide gaps', { msisdn: '+1   202   5550123' }, { msisdn: '+12025550123' }],
])('%s are understood', (_, fields, meant) => {
  expect(understood(fields)).toEqual(meant)
})

test.each<[string, Record<string, unknown>]>([
  ['several', { quantity: 2 }],
  ['no maximum', { maxUsdc: '' }],
  ['a currency', { value: '$25' }],
  ['two numbers', { value: '1,000' }],
  ['a number of a country', { msisdn: '600 12 34 56' }],
  ['a dialling prefix', { msisdn: '0034600123456' }],
  ['a zero in brackets', { msisdn: '(+44) (0)7911 123456' }],
  ['an invisible sign', { msisdn: `${lrm}+34600123456` }],
  ['a name', { firstName: ' Ada ' }],
  ['a name that every object has', { constructor: '1', toString: '1' }],
  // Was always accepted as it is, so a repeated purchase must keep the same wording.
  ['a spaced number', { msisdn: '+34 600 12 34 56' }],
])('%s is left for its reader', (_, fields) => {
  expect(understood(fields)).toEqual(fields)
})
