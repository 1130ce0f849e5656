import { describe, expect, test } from 'vitest'
import { inQuery } from '../../http/in-query.ts'
import { lookUpIn, pageIn } from './find-orders.ts'

const hash = `0x${'aB'.repeat(32)}`
const asked = (query: string) => inQuery(`/api/catalog/orders?${query}`)

describe('the query of orders', () => {
  test('has a page of 20 from the start', () => {
    const start = { limit: 20, offset: 0, transactionHash: undefined }
    expect(lookUpIn(asked(''))).toMatchObject(start)
    expect(lookUpIn(asked('transactionHash=&limit='))).toMatchObject(start)
    expect(pageIn(asked('limit=100&offset=40'))).toMatchObject({ limit: 100, offset: 40 })
  })

  test('finds a transaction whatever its letter case', () => {
    expect(lookUpIn(asked(`transactionHash=${hash}`)).transactionHash).toBe(hash.toLowerCase())
    expect(lookUpIn(asked('paymentId=pay_x')).paymentId).toBe('pay_x')
  })

  test.each([
    ['transactionHash=0x12', 'invalid_parameter'],
    [`transactionHash=${hash}0`, 'invalid_parameter'],
    [`transactionHash=${hash.slice(2)}`, 'invalid_parameter'],
    ['limit=0', 'invalid_parameter'],
    ['limit=101', 'invalid_parameter'],
    ['limit=1.5', 'invalid_parameter'],
    ['offset=-1', 'invalid_parameter'],
    ['transactionhash=x', 'unknown_parameter'],
    ['limit=1&limit=2', 'repeated_parameter'],
  ])('refuses %s', (query, code) => {
    expect(() => lookUpIn(asked(query))).toThrow(expect.objectContaining({ code }))
  })

  test('of a list takes no look-up', () => {
    const act = () => pageIn(asked(`transactionHash=${hash}`))
    expect(act).toThrow(expect.objectContaining({ code: 'unknown_parameter' }))
  })
})
