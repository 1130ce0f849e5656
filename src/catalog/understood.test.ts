import { expect, test } from 'vitest'
import { understood } from './understood.ts'

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
