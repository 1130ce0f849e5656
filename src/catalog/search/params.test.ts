import { expect, test } from 'vitest'
import { Refusal } from '../../lib/refusal.ts'
import { voucherSubTypes } from '../lists.ts'
import { country, dollars, oneOf, type Param, slugIn, wholeNumber } from './params.ts'

const regions = ['South Asia', 'Southeast Asia', 'South America'] as const

function refusalOf(param: Param<unknown>, text: string): Refusal {
  try {
    param.read('name', text)
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
  ['a misspelt slug', slugIn(regions), 'south-azia', 'South Asia'],
])('what was probably meant is told: %s', (_, param, text, meant) => {
  const { message, details } = refusalOf(param, text)
  expect(details.parameter).toBe('name')
  expect(details.extra).toEqual({ didYouMean: meant })
  expect(message).toMatch(`Did you mean ${meant}?`)
})

test.each<[string, Param<unknown>, string]>([
  ['an amount that is none', dollars, 'cheap'],
  ['a country that is none', country, 'Atlantis'],
  ['a part of several values', slugIn(regions), 'south'],
  ['another word', oneOf(voucherSubTypes), 'Weapons'],
  ['a number out of range', wholeNumber(1, 50), '500'],
])('nothing is made up: %s', (_, param, text) => {
  expect(refusalOf(param, text).details).not.toHaveProperty('extra')
})
