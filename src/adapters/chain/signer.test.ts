import fc from 'fast-check'
import { bytesToHex, concatHex, type Hex, recoverAddress, slice, toHex } from 'viem'
import { privateKeyToAccount, privateKeyToAddress, sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import { transactionSigner } from './clients.ts'
import { signerOf } from './sending.ts'

const privateKey: Hex = `0x${'7'.repeat(64)}`
const hash: Hex = `0x${'ab'.repeat(32)}`
const signature = await sign({ hash, privateKey, to: 'hex' })

/** What viem recovers; it throws for a signature that no key can have made. */
const byViem = (asked: { hash: Hex; signature: Hex }) =>
  recoverAddress(asked).catch(() => undefined)

const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => bytesToHex(bytes))

/** The order of the curve (SEC 2, section 2.4.1): keys are below it. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const secrets = fc.bigInt(1n, order - 1n).map((secret) => toHex(secret, { size: 32 }))

test('finds whose key has signed', async () => {
  await fc.assert(
    fc.asyncProperty(secrets, hex(32), async (secret, message) => {
      const signed = await sign({ hash: message, privateKey: secret, to: 'hex' })
      expect(signerOf(message, signed)).toBe(privateKeyToAddress(secret))
    }),
  )
})

test('says of any 65 bytes what viem says', async () => {
  const last = fc.constantFrom(0, 1, 2, 26, 27, 28, 29, 255)
  await fc.assert(
    fc.asyncProperty(hex(32), hex(32), last, async (r, s, v) => {
      const any = concatHex([r, s, toHex(v, { size: 1 })])
      expect(signerOf(hash, any)).toBe(await byViem({ hash, signature: any }))
    }),
  )
})

const zero: Hex = `0x${'00'.repeat(32)}`
const tooLarge: Hex = `0x${'ff'.repeat(32)}`
test.each<[string, Hex]>([
  ['64 bytes', slice(signature, 0, 64)],
  ['66 bytes', concatHex([signature, '0x00'])],
  ['none', '0x'],
  ['no hexadecimal', '0xhello'],
  ['r of zero', concatHex([zero, slice(signature, 32)])],
  ['s of zero', concatHex([slice(signature, 0, 32), zero, slice(signature, 64)])],
  ['r above the order of the curve', concatHex([tooLarge, slice(signature, 32)])],
])('finds nobody in %s', async (_, faulty) => {
  expect(signerOf(hash, faulty)).toBeUndefined()
  expect(await byViem({ hash, signature: faulty })).toBeUndefined()
})

test('signs a transaction to the byte as viem does', async () => {
  const fees = { maxFeePerGas: 2_000_000n, maxPriorityFeePerGas: 1_000n, gas: 90_000n }
  await fc.assert(
    fc.asyncProperty(secrets, fc.nat(), hex(20), hex(100), async (secret, nonce, to, data) => {
      const transaction = { type: 'eip1559', chainId: 8_453, nonce, to, data, ...fees } as const
      const account = privateKeyToAccount(secret)
      const signer = transactionSigner(secret)
      expect(signer.address).toBe(account.address)
      expect(signer.sign(transaction)).toBe(await account.signTransaction(transaction))
    }),
  )
})
