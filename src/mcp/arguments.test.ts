import { describe, expect, test } from 'vitest'
import { flagIn, givenIn, inArguments, textIn, without } from './arguments.ts'

const known = ['limit', 'brand', 'covers']
const read = (args: Record<string, unknown>) => Object.fromEntries(inArguments(args)(known))

describe('arguments', () => {
  test('are read as the texts of a query would be', () => {
    expect(read({ limit: 5, brand: ' Claro ' })).toEqual({ limit: '5', brand: 'Claro' })
    expect(read({ covers: ['US', 'CA'] })).toEqual({ covers: 'US,CA' })
    expect(read({ brand: true })).toEqual({ brand: 'true' })
    expect(read({})).toEqual({})
  })

  test('that are not known are refused with the one that was meant', () => {
    expect(() => read({ Brand: 'x' })).toThrow(
      expect.objectContaining({
        code: 'unknown_parameter',
        details: expect.objectContaining({ parameter: 'Brand', extra: { didYouMean: 'brand' } }),
      }),
    )
  })

  test.each([[{}], [[{}]], [[['x']]], [undefined], ['a\u0000b']])('may not be %j', (value) => {
    expect(() => read({ brand: value })).toThrow(
      expect.objectContaining({ code: 'invalid_parameter' }),
    )
  })

  test('that are null were not given', () => {
    expect(givenIn({ limit: null, brand: '' })).toEqual({ brand: '' })
    expect(givenIn(undefined)).toEqual({})
  })

  test('of our own are of their type', () => {
    expect(flagIn({}, 'goods')).toBe(false)
    expect(flagIn({ goods: true }, 'goods')).toBe(true)
    expect(flagIn({ goods: 'true' }, 'goods')).toBe(true)
    expect(() => flagIn({ goods: 'yes' }, 'goods')).toThrow(/must be true or false/)
    expect(textIn({ id: ' x' }, 'id')).toBe('x')
    expect(textIn({ id: '' }, 'id')).toBeUndefined()
    expect(textIn({}, 'id')).toBeUndefined()
    expect(() => textIn({ id: 1 }, 'id')).toThrow(/must be text/)
    expect(without({ a: 1, b: 2 }, ['a'])).toEqual({ b: 2 })
  })
})
