import { type CompactJWSHeaderParameters, CompactSign } from 'jose'
import { describe, expect, test } from 'vitest'
import { deliveryHash, type ReceiptClaims, receiptType } from '../orders/delivery-receipt.ts'
import { createSigningKeys } from '../secrets/signing-keys.ts'
import { fetchedKeys, type Keys, NotAReceipt, verifyReceipt } from './verify-receipt.ts'

const keys = createSigningKeys([Buffer.alloc(32, 5)], 'receipts')
const otherKeys = createSigningKeys([Buffer.alloc(32, 6)], 'receipts')
const delivered = { salt: 'a'.repeat(64), result: { code: 'SECRET-CODE', pin: '1234' } }

const paid: ReceiptClaims = {
  iss: 'https://kiosk.example',
  iat: 1_772_445_600,
  sub: 'ord_1',
  paymentId: 'pay_1',
  kind: 'voucher',
  offerId: 'CARD',
  brandName: 'Test',
  state: 'PAID',
  placed_at: '2026-03-01T10:00:00.123Z',
  state_updated_at: '2026-03-01T10:00:02.000Z',
  payment: {
    network: 'eip155:84532',
    asset: '0xa',
    payer: '0xb',
    payTo: '0xc',
    amount_atomic: '500000',
    transaction: '0xd',
    settlement: 'final',
  },
}
const fulfilled: ReceiptClaims = {
  ...paid,
  state: 'FULFILLED',
  delivery: { sha256: deliveryHash(delivered) },
}

function signed(
  claims: object,
  header: Partial<CompactJWSHeaderParameters> = {},
  { current } = keys,
): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid: current.kid, typ: receiptType, ...header })
    .sign(current.privateKey)
}

const published = async () => ({ keys: { keys: keys.published }, from: 'jwks.json' })

async function verdict(content: unknown, keysOf: () => Promise<Keys> = published) {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const { isProven, lines } = await verifyReceipt(text, keysOf)
  return { isProven, text: lines.join('\n') }
}

describe('a receipt that holds', () => {
  test('is read with the goods beside it', async () => {
    const { isProven, text } = await verdict({ receipt: await signed(fulfilled), delivered })
    expect(isProven).toBe(true)
    expect(text).toMatch(/goods shown here are exactly those/)
    expect(text).toMatch(/500000 atomic units of 0xa on eip155:84532/)
    expect(text).toContain('{"code":"SECRET-CODE","pin":"1234"}')
    expect(text).toMatch(/Not proven:[\s\S]*https:\/\/kiosk\.example is the store you mean/)
  })

  test('is read without them, and says that they are not shown', async () => {
    const { isProven, text } = await verdict({ receipt: await signed(fulfilled) })
    expect(isProven).toBe(true)
    expect(text).toMatch(/Not proven:[\s\S]*what was delivered: the goods are not shown/)
  })

  test('is read from the bare signature, with white space around it', async () => {
    expect((await verdict(`\n ${await signed(paid)}\n`)).isProven).toBe(true)
  })

  test('of a payment whose block is new says that it may still be dropped', async () => {
    const seen = { ...paid, payment: { ...paid.payment, settlement: 'seen' } }
    expect((await verdict(await signed(seen))).text).toMatch(/Not proven:[\s\S]*could still drop/)
    expect((await verdict(await signed(paid))).text).not.toMatch(/could still drop/)
  })

  test('of a refund says where it went', async () => {
    const refund = { state: 'REFUNDED', amount_atomic: '500000', transaction: '0xe' }
    const { text } = await verdict(await signed({ ...paid, state: 'EXPIRED', refund }))
    expect(text).toMatch(/refund of 500000 .* REFUNDED in transaction 0xe/)
    expect(text).toMatch(/Nothing was delivered/)
  })

  test('holds on when another key took the place of its own', async () => {
    const rotated = { keys: [...otherKeys.published, ...keys.published] }
    const keysOf = async () => ({ keys: rotated, from: 'jwks.json' })
    expect((await verdict(await signed(paid), keysOf)).isProven).toBe(true)
  })
})

describe('a receipt that does not hold', () => {
  test('because any character of it was changed', async () => {
    const receipt = await signed(fulfilled)
    for (let place = 0; place < receipt.length; place += 1) {
      const other = receipt.charAt(place) === 'A' ? 'B' : 'A'
      const changed = receipt.slice(0, place) + other + receipt.slice(place + 1)
      const holds = await verdict(changed).then(
        ({ isProven }) => isProven,
        (error) => {
          expect(error).toBeInstanceOf(NotAReceipt)
          return false
        },
      )
      expect(holds, `changed at ${place}`).toBe(false)
    }
  })

  test('because another signed it', async () => {
    const theirs = await signed(paid, {}, otherKeys)
    expect(await verdict(theirs)).toMatchObject({
      isProven: false,
      text: expect.stringMatching(/has no key named/),
    })
    const pretending = await signed(paid, { kid: keys.current.kid }, otherKeys)
    expect(await verdict(pretending)).toMatchObject({
      isProven: false,
      text: expect.stringMatching(/signature is not that of https:\/\/kiosk\.example/),
    })
  })

  test.each([
    ['other goods', { ...delivered, result: { ...delivered.result, code: 'OTHER' } }],
    ['another salt', { ...delivered, salt: 'b'.repeat(64) }],
  ])('because %s lie beside it', async (_, swapped) => {
    const answer = { receipt: await signed(fulfilled), delivered: swapped }
    expect(await verdict(answer)).toMatchObject({
      isProven: false,
      text: expect.stringMatching(/goods beside the receipt are not those/),
    })
  })

  test('because goods lie beside one that says of none', async () => {
    expect((await verdict({ receipt: await signed(paid), delivered })).isProven).toBe(false)
  })

  test('because what is signed says too little', async () => {
    const { payment: _, ...rest } = paid
    expect((await verdict(await signed(rest))).isProven).toBe(false)
  })
})

describe('what is no receipt is refused with the reason:', () => {
  test.each<[string, unknown, RegExp]>([
    ['nothing', '', /is no receipt/],
    ['a text', 'hello', /is no receipt/],
    ['half a JSON', '{"receipt":', /is no receipt/],
    ['an order', { orderId: 'ord_1', orders: [] }, /no receipt: receipt is missing/],
    ['goods without a salt', { receipt: 'a.b.c', delivered: { result: {} } }, /delivered\.salt/],
    ['goods that are a list', { receipt: 'a', delivered: { salt: 'a', result: [] } }, /result/],
  ])('%s', async (_, content, reason) => {
    await expect(verdict(content)).rejects.toThrow(reason)
    await expect(verdict(content)).rejects.toBeInstanceOf(NotAReceipt)
  })

  test('a signature of ours for another use', async () => {
    await expect(verdict(await signed(paid, { typ: 'JWT' }))).rejects.toThrow(/signed, but as JWT/)
  })

  test('one that says it needs no signature', async () => {
    const none = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const bare = `${none({ alg: 'none', kid: keys.current.kid, typ: receiptType })}.${none(paid)}.`
    await expect(verdict(bare)).rejects.toBeInstanceOf(NotAReceipt)
  })

  test('one that names no store', async () => {
    const { iss: _, ...rest } = paid
    await expect(verdict(await signed(rest))).rejects.toThrow(/does not name its store/)
    await expect(verdict(await signed({ ...paid, iss: 'file:///etc' }))).rejects.toThrow(/store/)
  })

  test.each([[undefined], [[]], [{ keys: 'none' }], ['text']])('keys like %j', async (set) => {
    const keysOf = async () => ({ keys: set, from: 'jwks.json' })
    const receipt = await signed(paid)
    await expect(verdict(receipt, keysOf)).rejects.toThrow(/no set of keys/)
  })
})

describe('the keys of a store', () => {
  test('are not taken over plain HTTP from elsewhere', async () => {
    await expect(fetchedKeys('http://kiosk.example')).rejects.toThrow(/without TLS prove nothing/)
  })

  test('that cannot be read are named', async () => {
    await expect(fetchedKeys('http://127.0.0.1:1')).rejects.toThrow(/jwks\.json cannot be read: /)
  })
})
