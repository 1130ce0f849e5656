import { describe, expect, test } from 'vitest'
import {
  argumentSchema,
  flagIn,
  inArguments,
  purchaseFields,
  purchaseIn,
  textIn,
  without,
  withoutNulls,
} from './arguments.ts'

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
    expect(withoutNulls({ limit: null, brand: '' })).toEqual({ brand: '' })
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

test('arguments are published without what the store checks itself, which they say in words', () => {
  const limit = { type: 'integer', minimum: 1, maximum: 50, default: 20, description: 'How many' }
  const code = { type: 'string', pattern: '^[A-Z]{2}$', minLength: 2, description: 'A country' }
  const ids = { type: 'array', items: { type: 'string' }, maxItems: 10, description: 'Several' }
  const sort = { type: 'string', enum: ['match', 'price'], description: 'In which order' }
  const goods = { type: 'boolean', default: false, description: 'With the goods' }
  expect(argumentSchema({ limit, code, ids, sort, goods }, ['code'])).toEqual({
    type: 'object',
    properties: {
      limit: { type: 'integer', description: 'How many (1 to 50; 20 if left out)' },
      code: { type: 'string', description: 'A country' },
      ids: { type: 'array', items: { type: 'string' }, description: 'Several (at most 10)' },
      sort,
      goods: { type: 'boolean', description: 'With the goods' },
    },
    required: ['code'],
  })
  expect(argumentSchema({}, [])).not.toHaveProperty('required')
})

test.each<[others: unknown, fields: object]>([
  [{ recipientMsisdn: '+12024561111' }, { recipientMsisdn: '+12024561111' }],
  ['{"deliveryLanguage":"es"}', { deliveryLanguage: 'es' }],
  [null, {}],
  ['', {}],
  ['+12024561111', { other_fields: '+12024561111' }],
])('fields that only some offers take come in one argument: %j', (others, fields) => {
  const args = { offerId: 'CARD', email: 'a@example.com', maxUsdc: 5, other_fields: others }
  expect(purchaseIn(args)).toEqual({
    offerId: 'CARD',
    email: 'a@example.com',
    maxUsdc: 5,
    ...fields,
  })
  expect(Object.keys(purchaseFields())).not.toContain('recipientMsisdn')
})
