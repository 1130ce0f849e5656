import { expect, test } from 'vitest'
import { esim as plan } from '../../../test/fixtures/offers.ts'
import { isRegional, lpaOf } from './esim.ts'

test.each([
  ['a bare matching id', 'smdp.example', 'ABC-1', 'LPA:1$smdp.example$ABC-1'],
  ['the whole text', 'other.example', 'LPA:1$smdp.example$ABC-1', 'LPA:1$smdp.example$ABC-1'],
  ['the text without its scheme', undefined, '1$smdp.example$ABC-1', 'LPA:1$smdp.example$ABC-1'],
  ['a host alone', 'smdp.example', undefined, 'LPA:1$smdp.example$'],
  ['an id without a host', undefined, 'ABC-1', undefined],
  ['nothing', undefined, undefined, undefined],
  ['an empty host', '', 'ABC-1', undefined],
])('the activation code from %s', (_, smdpAddress, activationCode, lpa) => {
  expect(lpaOf({ smdpAddress, activationCode })).toBe(lpa)
})

test('a plan without a country of its own is regional', () => {
  expect(isRegional(plan('E'))).toBe(true)
  expect(isRegional(plan('E', { country: 'FR' }))).toBe(false)
})
