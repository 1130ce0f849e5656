import { createPublicKey, verify } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { describe, expect, test } from 'vitest'
import { createSigningKeys, type PublicJwk } from './keys.ts'

const key = Buffer.alloc(32, 1)
const otherKey = Buffer.alloc(32, 2)
const text = Buffer.from('what was sold')

const checks = (jwk: PublicJwk | undefined, signature: string, signed = text) =>
  verify(
    null,
    signed,
    createPublicKey({ key: { ...jwk }, format: 'jwk' }),
    Buffer.from(signature, 'base64url'),
  )

describe('the keys of the store', () => {
  test('sign statements that the published key verifies', () => {
    const keys = createSigningKeys([key], 'receipts')
    const signature = keys.current.sign(text)
    expect(checks(keys.published[0], signature)).toBe(true)
    expect(checks(keys.published[0], signature, Buffer.from('something else'))).toBe(false)
    expect(checks(createSigningKeys([otherKey], 'receipts').published[0], signature)).toBe(false)
  })

  test('are the same on every node and differ by purpose', () => {
    const [one, two] = [createSigningKeys([key], 'receipts'), createSigningKeys([key], 'receipts')]
    expect(one.published).toEqual(two.published)
    expect(one.current.sign(text)).toBe(two.current.sign(text))
    expect(createSigningKeys([key], 'other').published).not.toEqual(one.published)
  })

  test('are named by their thumbprint', async () => {
    const { current, published } = createSigningKeys([key], 'receipts')
    const [jwk] = published
    expect(jwk?.kid).toBe(current.kid)
    expect(await calculateJwkThumbprint({ ...jwk })).toBe(current.kid)
  })

  test('verify their signatures after another key has replaced them', () => {
    const signature = createSigningKeys([key], 'receipts').current.sign(text)
    const rotated = createSigningKeys([otherKey, key], 'receipts')
    expect(rotated.current.kid).toBe(rotated.published[0]?.kid)
    expect(rotated.published.map((jwk) => checks(jwk, signature))).toEqual([false, true])
  })

  test('publish nothing of the private key', () => {
    const { published } = createSigningKeys([key], 'receipts')
    expect(Object.keys(published[0] ?? {}).sort()).toEqual(
      ['alg', 'crv', 'kid', 'kty', 'use', 'x'].sort(),
    )
  })

  test('need at least one operator key', () => {
    expect(() => createSigningKeys([], 'receipts')).toThrow(/needs a key/)
  })
})
