import { expect, test } from 'vitest'
import { Refusal } from '../../lib/refusal.ts'
import { voucherSubTypes } from '../lists.ts'
import {
  countries,
  country,
  dollars,
  oneOf,
  type Param,
  question,
  readParams,
  searchText,
  wholeNumber,
} from './params.ts'

const regions = ['South Asia', 'Southeast Asia', 'South America'] as const

function refusalOf(param: Param<unknown>, text: string): Refusal {
  try {
    param.parse('name', text)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`${text} was taken`)
}

test.each<[string, Param<unknown>, string, string | number]>([
  ['an amount with its currency', dollars, '$25', 25],
  ['an amount with commas', dollars, '1,000 USD', 1_000],
  ['a country by its name', country, 'Germany', 'DE'],
  ['a country misspelt', country, 'Portugel', 'PT'],
  ['a misspelt value of a list', oneOf(voucherSubTypes), 'Electronic', 'Electronics'],
  ['a part of one value', oneOf(voucherSubTypes), 'gaming', 'Gaming & Entertainment'],
  ['a misspelt slug', oneOf(regions), 'south-azia', 'South Asia'],
])('what was probably meant is told: %s', (_, param, text, meant) => {
  const { message, details } = refusalOf(param, text)
  expect(details.parameter).toBe('name')
  expect(details.extra).toEqual({ didYouMean: meant })
  expect(message).toMatch(`Did you mean ${meant}?`)
})

test.each<[string, Param<unknown>, string]>([
  ['an amount that is none', dollars, 'cheap'],
  ['a country that is none', country, 'Atlantis'],
  ['a part of several values', oneOf(regions), 'south'],
  ['another word', oneOf(voucherSubTypes), 'Weapons'],
  ['a number out of range', wholeNumber(1, 50), '500'],
])('nothing is made up: %s', (_, param, text) => {
  expect(refusalOf(param, text).details).not.toHaveProperty('extra')
})

test.each([
  ['x'.repeat(301), 'at most 300 characters'],
  // Each of these becomes six letters.
  ['\u3316'.repeat(40), 'at most 200 characters'],
  ['x '.repeat(25), 'at most 24 words'],
  ['x'.repeat(41), 'at most 40 letters'],
])('free text has bounds, which hold for what it becomes', (text, message) => {
  for (const param of [question, searchText]) {
    expect(refusalOf(param, text).message).toContain(message)
  }
  const longest = `${'x'.repeat(40)} ${'Ｘ '.repeat(23)}`
  expect(question.parse('query', longest)).toHaveLength(86)
})

test('the longest values take less than 20 ms of the thread, whatever the parameter', () => {
  const params = { question, searchText, country, countries, subType: oneOf(voucherSubTypes) }
  const refuse = (name: string, text: string) => {
    const before = process.threadCpuUsage()
    expect(() => readParams(() => new Map([[name, text]]), params)).toThrow(Refusal)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
  for (const name of Object.keys(params)) {
    refuse(name, '-'.repeat(400))
    for (const text of ['a'.repeat(15_000), 'Germanyy,'.repeat(1_700), '\ufdfa'.repeat(15_000)])
      expect(refuse(name, text), name).toBeLessThan(20)
  }
})
