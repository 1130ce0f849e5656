import { beforeEach, describe, expect, test } from 'vitest'
import { inQuery } from '../../http/call.ts'
import { createSigner } from '../../secrets/secrets.ts'
import type { BuyingDeps } from '../operation.ts'
import { listToken, lookUpIn, walletOfListToken } from './find-orders.ts'

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

const start = new Date('2026-01-05T12:00:00Z').getTime()
const key = Buffer.alloc(32, 1)
const newKey = Buffer.alloc(32, 2)
const wallet = `0x${'Ab'.repeat(20)}`
let now = start
beforeEach(() => {
  now = start
})

/** A store with these keys. */
const storeWith = (keys: readonly Buffer[], purpose = 'order-list') =>
  ({
    listSigner: createSigner(keys, purpose),
    purchases: { now: () => new Date(now) },
  }) as unknown as BuyingDeps

const store = storeWith([key])

test('a list token names its wallet until it expires, two hours later', () => {
  const { token, expiresAt } = listToken(store, wallet)
  expect(expiresAt).toBe('2026-01-05T14:00:00.000Z')
  expect(token).toMatch(/^[A-Za-z0-9._-]{1,200}$/)
  now = Date.parse(expiresAt) - 1
  expect(walletOfListToken(store, token)).toBe(wallet)
  now += 1
  expect(() => walletOfListToken(store, token)).toThrow('it has expired. Sign in again')
})

test('works on every node and after the key was rotated, until that key is gone', () => {
  const { token } = listToken(store, wallet)
  expect(walletOfListToken(storeWith([newKey, key]), token)).toBe(wallet)
  expect(() => walletOfListToken(storeWith([newKey]), token)).toThrow('it is not from this store')
})

test('what the store signed for another use is no list token', () => {
  const other = listToken(storeWith([key], 'reveal'), wallet)
  expect(() => walletOfListToken(store, other.token)).toThrow('it is not from this store')
})

test.each([undefined, '', 'kat_x', 'kwp_x.y'])(
  '%j is no list token and refuses nobody',
  (token) => {
    expect(walletOfListToken(store, token)).toBeUndefined()
  },
)
