import { expect, it } from 'vitest'
import { referenceOf, verifiesWebhook } from './zendit.ts'

const config = { header: 'X-Hook-Key', value: 'agreed' }

it('believes a call that shows the agreed header', () => {
  expect(verifiesWebhook({ 'x-hook-key': 'agreed' }, config)).toBe(true)
})

it.each([
  ['none', {}],
  ['another value', { 'x-hook-key': 'agreeD' }],
  ['a longer value', { 'x-hook-key': 'agreed!' }],
  ['an empty value', { 'x-hook-key': '' }],
  ['the header twice', { 'x-hook-key': ['agreed', 'agreed'] }],
])('does not believe a call with %s', (_name, headers) => {
  expect(verifiesWebhook(headers, config)).toBe(false)
})

it('believes nobody while no value is agreed', () => {
  expect(verifiesWebhook({ 'x-hook-key': '' }, { ...config, value: '' })).toBe(false)
  expect(verifiesWebhook({}, { ...config, value: '' })).toBe(false)
})

it('takes the reference from a call, and nothing that is none', () => {
  expect(referenceOf({ transactionId: 'ord123', status: 'DONE' })).toBe('ord123')
  for (const body of [undefined, null, 'ord123', [], {}, { transactionId: 7 }]) {
    expect(referenceOf(body)).toBeUndefined()
  }
  for (const transactionId of ['', '../x', 'a b', 'x'.repeat(65)]) {
    expect(referenceOf({ transactionId })).toBeUndefined()
  }
})
