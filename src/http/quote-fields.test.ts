import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoteFields } from './call.ts'

const path = '/api/catalog/vouchers/purchase/info'
const fieldsOf = (query: string) => ({ ...quoteFields(`${path}?${query}`) })

describe('the fields of a quote', () => {
  test('are those that a body would carry, as texts', () => {
    const query = 'offerId=A&firstName=Ada+M.&lastName=L%C3%B3pez%26Co&value=12.5'
    expect(fieldsOf(query)).toEqual({
      offerId: 'A',
      firstName: 'Ada M.',
      lastName: 'López&Co',
      value: '12.5',
    })
  })

  test.each(['', '?', '?&&'])('are none in %j', (query) => {
    expect({ ...quoteFields(path + query) }).toEqual({})
  })

  test.each([
    ['msisdn=%2B50255551234', '+50255551234'],
    ['msisdn=+50255551234', '+50255551234'],
    ['msisdn=50255551234', '50255551234'],
    ['msisdn=++502', '+ 502'],
  ])('%s is the number %s', (query, msisdn) => {
    expect(fieldsOf(query)).toEqual({ msisdn })
  })

  test('keep an equals sign and a question mark in their value', () => {
    expect(fieldsOf('firstName=a=b?c')).toEqual({ firstName: 'a=b?c' })
  })

  test('end where a fragment begins', () => {
    expect(fieldsOf('offerId=A#b')).toEqual({ offerId: 'A' })
  })

  test('may be called like parts of every object', () => {
    const fields = quoteFields(`${path}?__proto__=a&constructor=b&toString=c`)
    expect(Object.entries(fields)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ])
  })

  test('come back whatever they are, once they are escaped as a client does', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 5 }), (fields) => {
        const told = Object.fromEntries(
          Object.entries(fields).filter(([name]) => name !== 'value' && name !== 'msisdn'),
        )
        const query = new URLSearchParams(Object.entries(told)).toString()
        fc.pre(query.length <= 2_048)
        expect({ ...quoteFields(`${path}?${query}`) }).toEqual({ ...told })
      }),
    )
  })
})

describe('a query is refused', () => {
  test.each([
    ['offerId=A&offerId=B', 'repeated_parameter'],
    ['offerId=A&offer%49d=B', 'repeated_parameter'],
    ['offerId=%E0%A4%A', 'invalid_parameter'],
    ['offerId=%', 'invalid_parameter'],
    ['%FF=a', 'invalid_parameter'],
    [`offerId=${'a'.repeat(2_048)}`, 'invalid_parameter'],
  ])('%s', (query, code) => {
    expect(() => fieldsOf(query)).toThrow(expect.objectContaining({ code }))
  })
})
