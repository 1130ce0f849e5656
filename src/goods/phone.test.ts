import { describe, expect, test } from 'vitest'
import { phoneFault, phoneForm } from './phone.ts'

describe('a number is taken', () => {
  test.each([
    ['+50255551234', 'GT', 'a mobile number of the country'],
    ['+5355564362', 'CU', 'the example of the error texts'],
    ['+12025550123', 'US', 'North America does not tell mobile from fixed'],
    ['+18095551234', 'DO', 'a country that shares its calling code'],
    ['+12025550123', 'DO', 'a shared calling code names no country'],
    ['+447911123456', 'GG', 'a shared calling code names no country'],
    ['+77011234567', 'RU', 'a shared calling code names no country'],
    ['+525512345678', 'MX', 'mobile and fixed look alike'],
    ['+50255551234', 'XX', 'an offer of no known country: only the carrier can tell'],
  ])('%s in %s: %s', (msisdn, country) => {
    expect(phoneFault(msisdn, country)).toBeUndefined()
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
    '+502 5555 1234',
    '+502-5555-1234',
    '+502(5555)1234',
    'tel:+50255551234',
    '+5025555123４',
    '+50255551234\n',
    ' +50255551234',
    '++50255551234',
    '+50255551234x12',
    `+502${'5'.repeat(13)}`,
    `+${'9'.repeat(4_000)}`,
  ])('%j: not E.164', (msisdn) => {
    expect(phoneFault(msisdn, 'GT')).toBe(phoneForm)
  })

  test.each([
    ['+50455551234', 'GT', 'has the calling code +504; this offer is for GT, +502'],
    ['+5025555123', 'GT', 'is not a possible phone number'],
    ['+9991234567', 'GT', 'is not a possible phone number'],
    ['+442079460000', 'GB', 'is not a mobile number'],
    ['+4930123456', 'DE', 'is not a mobile number'],
    ['+18005551234', 'US', 'is not a mobile number'],
  ])('%s in %s: %s', (msisdn, country, fault) => {
    expect(phoneFault(msisdn, country)).toBe(fault)
  })
})
