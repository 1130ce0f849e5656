import { createPublicKey, verify } from 'node:crypto'
import fc from 'fast-check'
import { calculateJwkThumbprint } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  createDigest,
  createEnvelope,
  createSigner,
  createSigningKeys,
  createVault,
  hashOf,
  type PublicJwk,
  type Sealed,
  type SealedFor,
  sameHash,
} from './secrets.ts'

const key = Buffer.alloc(32, 1)
const otherKey = Buffer.alloc(32, 2)
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n'

/** The text with any one of its characters replaced by any other, and each of its beginnings. */
function* changesOf(text: string, from = 0): Generator<string> {
  for (let place = from; place < text.length; place += 1) {
    yield text.slice(0, place)
    for (const character of alphabet) {
      if (text.charAt(place) === character) continue
      yield text.slice(0, place) + character + text.slice(place + 1)
    }
  }
}

test('without an operator key nothing is made', () => {
  for (const make of [createSigner, createDigest, createSigningKeys, createVault]) {
    expect(() => make([], 'price')).toThrow(/needs a key/)
  }
  expect(() => createVault([Buffer.alloc(31)])).toThrow(/32 bytes/)
})

describe('a signed statement', () => {
  const signer = createSigner([key], 'price')

  test('reads back unchanged and is safe in headers and URLs', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (statement) => {
        const text = signer.sign(statement)
        expect(text).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/)
        expect(signer.verify(text)).toEqual(JSON.parse(JSON.stringify(statement)))
      }),
    )
  })

  test('is rejected if it is changed anywhere, cut, lengthened or made for another purpose', () => {
    const text = signer.sign(['OFFER', 2_500])
    const bad = [
      'a',
      '.a',
      'a.b',
      'a.b.c',
      `${text}.`,
      `${text}.x`,
      createSigner([key], 'other').sign(1),
    ]
    for (const changed of [...changesOf(text), ...bad])
      expect(signer.verify(changed)).toBeUndefined()
  })

  test('stays valid during key rotation until its key is removed', () => {
    const text = signer.sign('old')
    expect(createSigner([otherKey, key], 'price').verify(text)).toBe('old')
    expect(createSigner([otherKey], 'price').verify(text)).toBeUndefined()
  })
})

describe('a keyed digest', () => {
  const digest = createDigest([key], 'orders')

  test('matches its own text only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, other) => {
        expect(digest.matches(text, digest.of(text))).toBe(true)
        expect(digest.matches(other, digest.of(text))).toBe(other === text)
      }),
    )
    expect(digest.matches('89', '')).toBe(false)
    expect(digest.matches('89', digest.of('89').slice(0, 10))).toBe(false)
  })

  test('depends on the key and the purpose, and matches after key rotation', () => {
    expect(digest.of('89')).not.toBe(hashOf('89'))
    expect(createDigest([otherKey], 'orders').of('89')).not.toBe(digest.of('89'))
    expect(createDigest([key], 'other').of('89')).not.toBe(digest.of('89'))
    expect(createDigest([otherKey, key], 'orders').matches('89', digest.of('89'))).toBe(true)
    expect(createDigest([otherKey], 'orders').matches('89', digest.of('89'))).toBe(false)
  })
})

test('hashes are compared whole', () => {
  expect(sameHash(hashOf('a'), hashOf('a'))).toBe(true)
  expect(sameHash(hashOf('a'), hashOf('b'))).toBe(false)
  expect(sameHash(hashOf('a'), hashOf('a').slice(0, -1))).toBe(false)
  expect(sameHash('', hashOf('a'))).toBe(false)
})

describe('an envelope', () => {
  const envelope = createEnvelope([key], 'url')

  test('holds its value for the store alone, in the letters of an address', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = envelope.seal(value)
        expect(text).toMatch(/^[\w-]+$/)
        expect(envelope.open(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
    expect(envelope.seal('Ada')).not.toBe(envelope.seal('Ada'))
  })

  test('opens nothing that was changed, cut off, or sealed by another key or for another purpose', () => {
    const text = envelope.seal({ firstName: 'Ada' })
    const foreign = [createEnvelope([otherKey], 'url'), createEnvelope([key], 'other')]
    const others = ['', 'x', ...foreign.map((one) => one.seal({ firstName: 'Ada' }))]
    for (const bad of [...changesOf(text), ...others]) expect(envelope.open(bad)).toBeUndefined()
    expect(createEnvelope([otherKey, key], 'url').open(text)).toEqual({ firstName: 'Ada' })
  })
})

describe('a sealed value', () => {
  const here: SealedFor = { order: 'ord_1', field: 'delivery' }
  const vault = createVault([key])

  test('opens to the original value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const opened = vault.open(vault.seal(value, here), here)
        expect(opened).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('does not open if it is changed or cut anywhere', () => {
    for (const changed of changesOf(vault.seal('secret', here))) {
      expect(() => vault.open(changed as Sealed, here)).toThrow()
    }
    // The last character of base64 may have unused bits.
    for (const sealed of ['', 'a', 'ab'].map((secret) => vault.seal(secret, here))) {
      for (const changed of changesOf(sealed, sealed.length - 1)) {
        expect(() => vault.open(changed as Sealed, here)).toThrow()
      }
    }
  })

  test('opens only for its order and field, and with its own body', () => {
    const sealed = vault.seal('secret', here)
    for (const other of [{ order: 'ord_2' }, { field: 'recipient' as const }, { order: '' }]) {
      expect(() => vault.open(sealed, { ...here, ...other })).toThrow()
    }
    const body = vault.seal('yours', here).split('.')[3]
    const mixed = [...sealed.split('.').slice(0, 3), body].join('.') as Sealed
    expect(() => vault.open(mixed, here)).toThrow()
  })

  test('reveals nothing and never repeats', () => {
    const sealed = [vault.seal('SECRET-CODE', here), vault.seal('SECRET-CODE', here)]
    expect(new Set(sealed).size).toBe(2)
    expect(sealed.join()).not.toContain('SECRET')
    expect(sealed.join()).not.toContain(Buffer.from('SECRET').toString('base64url'))
  })

  test('opens under an older key that is still listed', () => {
    const rotated = createVault([otherKey, key])
    const old = vault.seal('old', here)
    expect(rotated.open(old, here)).toBe('old')
    const sealed = rotated.seal('new', here)
    expect(createVault([otherKey]).open(sealed, here)).toBe('new')
    expect(() => vault.open(sealed, here)).toThrow(/key that is not configured/)
    expect(() => createVault([otherKey]).open(old, here)).toThrow(/key that is not configured/)
  })
})

describe('the signing keys', () => {
  const text = Buffer.from('what was sold')
  const checks = (jwk: PublicJwk | undefined, signature: string, signed = text) =>
    verify(
      null,
      signed,
      createPublicKey({ key: { ...jwk }, format: 'jwk' }),
      Buffer.from(signature, 'base64url'),
    )
  const keys = createSigningKeys([key], 'receipts')

  test('sign what the published key verifies, also after another key has replaced theirs', () => {
    const signature = keys.current.sign(text)
    expect(checks(keys.published[0], signature)).toBe(true)
    expect(checks(keys.published[0], signature, Buffer.from('something else'))).toBe(false)
    const rotated = createSigningKeys([otherKey, key], 'receipts')
    expect(rotated.current.kid).toBe(rotated.published[0]?.kid)
    expect(rotated.published.map((jwk) => checks(jwk, signature))).toEqual([false, true])
  })

  test('are the same on every node, differ by purpose, and publish nothing of the private key', async () => {
    expect(createSigningKeys([key], 'receipts').published).toEqual(keys.published)
    expect(createSigningKeys([key], 'other').published).not.toEqual(keys.published)
    const [jwk] = keys.published
    expect(await calculateJwkThumbprint({ ...jwk })).toBe(jwk?.kid)
    expect(Object.keys(jwk ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  })
})
