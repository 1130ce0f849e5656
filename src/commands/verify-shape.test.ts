import fc from 'fast-check'
import { CompactSign } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { deliveryHash, receiptType } from '../orders/delivery-receipt.ts'
import { createSigningKeys } from '../secrets/signing-keys.ts'
import { NotAReceipt, verifyReceipt } from './verify-receipt.ts'

const keys = createSigningKeys([Buffer.alloc(32, 5)], 'receipts')
const delivered = {
  salt: 'a'.repeat(64),
  result: {
    code: 'SECRET',
    amount: 12.5,
    pins: [{ pin: '1' }, null],
    note: { text: 'a: "b"\u202e\u009b' },
  },
}
const claims = {
  ...{ iss: 'https://kiosk.example', iat: 1_772_445_600, sub: 'ord_1', paymentId: 'pay_1' },
  ...{ kind: 'voucher', offerId: 'CARD', brandName: 'Test', state: 'FULFILLED' },
  ...{ placed_at: '2026-03-01T10:00:00.123Z', state_updated_at: '2026-03-01T10:00:02.000Z' },
  payment: {
    ...{ network: 'eip155:84532', asset: '0xa', payer: '0xb', payTo: '0xc' },
    ...{ amount_atomic: '500000', transaction: '0xd', settlement: 'final' },
  },
  delivery: { sha256: deliveryHash(delivered) },
}

let valid: string
beforeAll(async () => {
  const { kid, privateKey } = keys.current
  const receipt = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: receiptType })
    .sign(privateKey)
  valid = JSON.stringify({ receipt, delivered })
})

const check = (text: string) =>
  verifyReceipt(text, async () => ({ keys: { keys: keys.published }, from: 'jwks.json' }))

async function isProven(text: string): Promise<boolean> {
  try {
    return (await check(text)).isProven
  } catch (error) {
    expect(error).toBeInstanceOf(NotAReceipt)
    return false
  }
}

/** Where each member of the answer begins in its text, with its name and its value as they are written. */
function membersIn(text: string) {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"(?=:)/g)].map(({ 0: name, index }) => {
    const from = index + name.length + 1
    for (let to = from + 1; ; to += 1) {
      try {
        JSON.parse(text.slice(from, to))
        if (!/[\d.]/.test(text.charAt(to))) return { at: index, name, value: text.slice(from, to) }
      } catch {}
    }
  })
}

const names = fc.oneof(
  fc.constantFrom('__proto__', 'code', 'deliverd', 'delivered', 'result', 'constructor', 'receipt'),
  fc.string(),
)
const faults = fc.constantFrom('added', 'renamed', 'duplicated', 'changed' as const)

describe('of a receipt with its goods', () => {
  test('the whole is proven, and what was hashed is printed', async () => {
    const { isProven: is, lines } = await check(JSON.stringify(JSON.parse(valid), null, 2))
    expect(is).toBe(true)
    expect(lines.join('\n')).toContain(
      '"code":"SECRET","note":{"text":"a: \\"b\\"\\u{202e}\\u{9b}"}',
    )
  })

  test('any single member that is added, renamed, duplicated or changed is refused', async () => {
    const members = membersIn(valid)
    expect(members).toHaveLength(10)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...members),
        faults,
        names,
        fc.jsonValue(),
        async ({ at, name, value }, fault, given, json) => {
          const [other, is] = [JSON.stringify(given), JSON.stringify(json)]
          const end = at + name.length + 1 + value.length
          fc.pre(fault !== 'renamed' || other !== name)
          fc.pre(fault !== 'changed' || is !== JSON.stringify(JSON.parse(value)))
          const wrong = {
            added: `${other}:${is},${name}:${value}`,
            renamed: `${other}:${value}`,
            duplicated: `${name}:${is},${name}:${value}`,
            changed: `${name}:${is}`,
          }[fault]
          const text = valid.slice(0, at) + wrong + valid.slice(end)
          expect(await isProven(text), text).toBe(false)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['a number that is rounded', '12.5', '12.50000000000000000001'],
    ['a name that is written in another way', '"code":', '"code":"X","c\\u006fde":'],
    ['a name that objects have by themselves', '"code":', '"__proto__":{"code":"X"},"code":'],
    ['goods that nothing is said of', '"delivered":', '"deliverd":'],
    ['a code beside the goods', '"salt":', '"code":"X","salt":'],
  ])('%s is refused', async (_, from, to) => {
    expect(valid).toContain(from)
    await expect(check(valid.replace(from, () => to))).rejects.toBeInstanceOf(NotAReceipt)
  })
})

test('what is printed cannot move the cursor or turn the text round', async () => {
  const { lines } = await check(valid)
  expect(lines.join('')).not.toMatch(/\p{Cc}|\p{Cf}/u)
})
