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

test('a plan for several countries without one of its own is regional', () => {
  const coverage = ['FR', 'IT'].map((country) => ({ country, speeds: [] }))
  expect(isRegional(plan('E', { coverage }))).toBe(true)
  expect(isRegional(plan('E', { coverage, country: 'FR' }))).toBe(false)
  // The country of this one has no code in ISO 3166-1.
  expect(isRegional(plan('E', { coverage: [] }))).toBe(false)
})
