import { getCountries, getCountryCallingCode, getExampleNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, test } from 'vitest'
import { numbersMeantBy, phoneMeantBy, readPhone } from './phone.ts'

describe('a number is taken', () => {
  test.each([
    ['+50255551234', 'GT', 'a mobile number of the country'],
    ['+5355564362', 'CU', 'the example of the error texts'],
    ['+12025550123', 'US', 'North America does not tell mobile from fixed'],
    ['+18095551234', 'DO', 'a country that shares its calling code'],
    ['+77011234567', 'KZ', 'likewise'],
    ['+447911123456', 'GB', 'a code of one network and its islands'],
    ['+525512345678', 'MX', 'mobile and fixed look alike'],
    ['+38344123456', 'XK', 'Kosovo has a plan of its own'],
    ['+50255551234', 'XX', 'an offer of no known country: only the carrier can tell'],
  ])('%s in %s: %s', (number, country) => {
    expect(readPhone(number, country)).toEqual({ number, isValid: true })
  })

  test.each([
    ['+502 5555 1234', 'GT', '+50255551234'],
    ['+502-5555-1234', 'GT', '+50255551234'],
    ['+502 (5555) 1234', 'GT', '+50255551234'],
    ['+1 (202) 555-0123', 'US', '+12025550123'],
    ['+330612345678', 'FR', '+33612345678'],
    ['+44 (0)7911 123456', 'GB', '+447911123456'],
  ])('%s in %s, as it is understood: %s', (text, country, number) => {
    expect(readPhone(text, country)).toEqual({ number, isValid: true })
  })

  const shared: Record<string, string[]> = {}
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country)
    shared[code] = [...(shared[code] ?? []), country]
  }
  const lenient = ['44', '47', '61', '39', '358', '590']
  test.each(
    lenient.flatMap((code) =>
      (shared[code] ?? []).flatMap((one) => (shared[code] ?? []).map((other) => [one, other])),
    ),
  )('a number of %s on an offer of %s, whose network is the same', (own, country) => {
    const number = getExampleNumber(own as 'GB', examples)?.number as string
    expect(readPhone(number, country as string)).toEqual({ number, isValid: true })
  })

  test.each(getCountries().map((country) => [country]))('its own example, of %s', (country) => {
    const number = getExampleNumber(country, examples)?.number
    if (number === undefined) expect(['AC', 'TA', '001']).toContain(country)
    else expect(readPhone(number, country)).toEqual({ number, isValid: true })
  })
})

describe('a number of the right length that no plan has is told from one that is impossible', () => {
  test.each([
    ['+33012345678', 'FR'],
    ['+50211111111', 'GT'],
    ['+12021550123', 'US'],
    ['+447700900123', 'GB'],
  ])('%s in %s', (number, country) => {
    expect(readPhone(number, country)).toEqual({ number, isValid: false })
  })
})

describe('a number is refused', () => {
  test.each([
    '',
    '50255551234',
    '0050255551234',
    '+0255551234',
    '+',
    '+502',
    '+502   5555 1234',
    '+502/55551234',
    'tel:+50255551234',
    '+5025555123４',
    '+50255551234\n',
    ' +50255551234',
    '++50255551234',
    '+50255551234x12',
    `+502${'5'.repeat(13)}`,
    `+${'9'.repeat(4_000)}`,
  ])('%j: not E.164', (msisdn) => {
    expect(readPhone(msisdn, 'GT')).toEqual({ fault: { code: 'malformed' } })
  })

  test.each([
    [
      '+50455551234',
      'GT',
      { code: 'other_calling_code', found: '504', country: 'GT', wanted: '502' },
    ],
    ['+5025555123', 'GT', { code: 'impossible_number' }],
    ['+9991234567', 'GT', { code: 'impossible_number' }],
    ['+442079460000', 'GB', { code: 'not_mobile' }],
    ['+4930123456', 'DE', { code: 'not_mobile' }],
    ['+18005551234', 'US', { code: 'not_mobile' }],
    ['+14155550123', 'DO', { code: 'other_country', found: 'US', country: 'DO' }],
    ['+18095551234', 'US', { code: 'other_country', found: 'DO', country: 'US' }],
    ['+14165550123', 'US', { code: 'other_country', found: 'CA', country: 'US' }],
    ['+77011234567', 'RU', { code: 'other_country', found: 'KZ', country: 'RU' }],
    ['+79161234567', 'KZ', { code: 'other_country', found: 'RU', country: 'KZ' }],
  ])('%s in %s: %j', (msisdn, country, fault) => {
    expect(readPhone(msisdn, country)).toEqual({ fault })
  })
})

test('a Mexican mobile number as it was written until 2019 is told as it is written now', () => {
  expect(readPhone('+5215512345678', 'MX')).toHaveProperty('fault')
  expect(phoneMeantBy('+5215512345678', 'MX')).toBe('+525512345678')
})

test('a text without a country may mean a number of each country that has it', () => {
  for (const text of ['+49 1512 3456789', '0049 (1512) 345-6789', '4915123456789']) {
    expect(numbersMeantBy(text)).toContain('+4915123456789')
  }
  expect(numbersMeantBy('01512 3456789')).toContain('+4915123456789')
  expect(numbersMeantBy('+49 1512 3456789')).toHaveLength(1)
  expect(numbersMeantBy('nobody')).toEqual([])
})
