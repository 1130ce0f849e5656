import { describe, expect, test } from 'vitest'
import { deliveryHash } from './delivery-receipt.ts'

const salt = 'a'.repeat(64)
const result = { code: 'ABCD', pin: '1234', expiresAt: '2027-01-01' }

describe('the hash of what was delivered', () => {
  test('is that of salt, full stop and canonical JSON', () => {
    // printf '%s' 'aaaa…aaaa.{"code":"ABCD"}' | sha256sum
    expect(deliveryHash({ salt, result: { code: 'ABCD' } })).toBe(
      '9cad94970628deed16298a730c29259256a2d360383f99bd26ff419b8ee15f05',
    )
  })

  test('does not depend on the order of the names', () => {
    const turned = Object.fromEntries(Object.entries(result).reverse())
    expect(deliveryHash({ salt, result: turned })).toBe(deliveryHash({ salt, result }))
  })

  test('is another for any other goods or salt', () => {
    const others = [
      { salt: 'b'.repeat(64), result },
      { salt, result: { ...result, code: 'ABCE' } },
      { salt, result: { ...result, more: null } },
      { salt, result: { code: 'ABCD', pin: '1234' } },
    ]
    const hashes = [{ salt, result }, ...others].map(deliveryHash)
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})
