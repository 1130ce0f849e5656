import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createVault, type Sealed, type SealedFor } from './vault.ts'

const oldKey = Buffer.alloc(32, 1)
const newKey = Buffer.alloc(32, 2)
const here: SealedFor = { order: 'ord_1', field: 'delivery' }
const vault = createVault([oldKey])
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n'

describe('a sealed value', () => {
  test('opens to the original value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const opened = vault.open(vault.seal(value, here), here)
        expect(opened).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('does not open after any character is changed', () => {
    const sealed = vault.seal('secret', here)
    for (let place = 0; place < sealed.length; place += 1) {
      for (const character of alphabet) {
        if (sealed.charAt(place) === character) continue
        const changed = sealed.slice(0, place) + character + sealed.slice(place + 1)
        expect(() => vault.open(changed as Sealed, here)).toThrow()
      }
    }
  })

  test('has one spelling, including the unused bits of its last character', () => {
    for (const secret of ['', 'a', 'ab', 'abc']) {
      const sealed = vault.seal(secret, here)
      for (const character of alphabet) {
        if (sealed.endsWith(character)) continue
        const changed = (sealed.slice(0, -1) + character) as Sealed
        expect(() => vault.open(changed, here)).toThrow()
      }
    }
  })

  test('does not open when truncated, even to nothing', () => {
    const sealed = vault.seal('secret', here)
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => vault.open(sealed.slice(0, length) as Sealed, here)).toThrow()
    }
  })

  test.each<SealedFor>([
    { order: 'ord_2', field: 'delivery' },
    { order: 'ord_1', field: 'recipient' },
    { order: '', field: 'delivery' },
  ])('does not open for %j', (elsewhere) => {
    const sealed = vault.seal('secret', here)
    expect(() => vault.open(sealed, elsewhere)).toThrow()
  })

  test('does not open with the body of another value of the same order', () => {
    const [format, key, wrapped] = vault.seal('mine', here).split('.')
    const body = vault.seal('yours', here).split('.')[3]
    const mixed = [format, key, wrapped, body].join('.') as Sealed
    expect(() => vault.open(mixed, here)).toThrow()
  })

  test('reveals nothing and never repeats', () => {
    const sealed = [vault.seal('SECRET-CODE', here), vault.seal('SECRET-CODE', here)]
    expect(new Set(sealed).size).toBe(2)
    expect(sealed.join()).not.toContain('SECRET')
    expect(sealed.join()).not.toContain(Buffer.from('SECRET').toString('base64url'))
  })
})

describe('a changed operator key', () => {
  const rotated = createVault([newKey, oldKey])

  test('seals new values while the old key still opens old ones', () => {
    expect(rotated.open(vault.seal('old', here), here)).toBe('old')
    const sealed = rotated.seal('new', here)
    expect(createVault([newKey]).open(sealed, here)).toBe('new')
    expect(() => vault.open(sealed, here)).toThrow(/key that is not configured/)
  })

  test('that was removed opens nothing', () => {
    const sealed = vault.seal('old', here)
    expect(() => createVault([newKey]).open(sealed, here)).toThrow(/key that is not configured/)
  })

  test('must have 32 bytes and is required', () => {
    expect(() => createVault([])).toThrow(/needs a key/)
    expect(() => createVault([Buffer.alloc(31)])).toThrow(/32 bytes/)
  })
})
