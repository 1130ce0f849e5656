import { describe, expect, test } from 'vitest'
import { readParams } from '../../catalog/search/params.ts'
import { inQuery } from '../../http/call.ts'
import { orderParams } from './find-orders.ts'

const hash = `0x${'aB'.repeat(32)}`
const read = (query: string) => readParams(inQuery(`/api/catalog/orders?${query}`), orderParams)

describe('the query of orders', () => {
  test('finds a transaction whatever its letter case', () => {
    expect(read(`transactionHash=${hash}`).transactionHash).toBe(hash.toLowerCase())
    expect(read('paymentId=pay_x').paymentId).toBe('pay_x')
  })

  test.each([
    ['transactionHash=0x12', 'invalid_parameter'],
    [`transactionHash=${hash.slice(2)}`, 'invalid_parameter'],
    ['limit=101', 'invalid_parameter'],
    ['transactionhash=x', 'unknown_parameter'],
  ])('refuses %s', (query, code) => {
    expect(() => read(query)).toThrow(expect.objectContaining({ code }))
  })
})
