import { expect, it } from 'vitest'
import { zendit } from './zendit.ts'

/** The webhook check of a supplier with this agreed header. */
function told(webhook?: { header: string; value: string }) {
  const access = { url: 'http://127.0.0.1:9', key: 'key', webhook }
  return zendit.connect(access, () => new Date()).webhook
}

const agreed = { header: 'X-Hook-Key', value: 'agreed' }

it('believes a call that shows the agreed header', () => {
  expect(told(agreed).isGenuine({ 'x-hook-key': 'agreed' })).toBe(true)
})

it.each([
  ['none', {}],
  ['another value', { 'x-hook-key': 'agreeD' }],
  ['a longer value', { 'x-hook-key': 'agreed!' }],
  ['an empty value', { 'x-hook-key': '' }],
  ['the header twice', { 'x-hook-key': ['agreed', 'agreed'] }],
])('does not believe a call with %s', (_name, headers) => {
  expect(told(agreed).isGenuine(headers)).toBe(false)
})

it('believes nobody while no value is agreed', () => {
  expect(told({ ...agreed, value: '' }).isGenuine({ 'x-hook-key': '' })).toBe(false)
  expect(told({ ...agreed, value: '' }).isGenuine({})).toBe(false)
  expect(told().isGenuine({ '': '' })).toBe(false)
})

it('takes the reference from a call, and nothing that is none', () => {
  const { referenceIn } = told(agreed)
  expect(referenceIn({ transactionId: 'ord123', status: 'DONE' })).toBe('ord123')
  for (const body of [undefined, null, 'ord123', [], {}, { transactionId: 7 }]) {
    expect(referenceIn(body)).toBeUndefined()
  }
  for (const transactionId of ['', '../x', 'a b', 'x'.repeat(65)]) {
    expect(referenceIn({ transactionId })).toBeUndefined()
  }
})
