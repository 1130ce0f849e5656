import { describe, expect, test } from 'vitest'
import { inQuery } from '../../http/call.ts'
import { lookUpIn } from './find-orders.ts'

const hash = `0x${'aB'.repeat(32)}`
const asked = (query: string) => inQuery(`/api/catalog/orders?${query}`)

describe('the query of orders', () => {
  test('finds a transaction whatever its letter case', () => {
    expect(lookUpIn(asked(`transactionHash=${hash}`)).transactionHash).toBe(hash.toLowerCase())
    expect(lookUpIn(asked('paymentId=pay_x')).paymentId).toBe('pay_x')
  })

  test.each([
    ['transactionHash=0x12', 'invalid_parameter'],
    [`transactionHash=${hash.slice(2)}`, 'invalid_parameter'],
    ['limit=101', 'invalid_parameter'],
    ['transactionhash=x', 'unknown_parameter'],
  ])('refuses %s', (query, code) => {
    expect(() => lookUpIn(asked(query))).toThrow(expect.objectContaining({ code }))
  })
})
