import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cents, formatUsdc, usdc, usdcFromCents, usdcFromText } from './money.ts'

const atomic = fc.bigInt({ min: 0n, max: 10n ** 24n })

/** Reads a formatted amount back as atomic USDC. */
function atomicOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

describe('an amount of USDC', () => {
  test('is written so that it reads as the same amount', () => {
    fc.assert(
      fc.property(atomic, (amount) => {
        expect(atomicOf(formatUsdc(usdc(amount)))).toBe(amount)
      }),
    )
  })

  test.each([
    [12_500_000n, '12.50'],
    [1n, '0.000001'],
    [0n, '0.00'],
    [100_000n, '0.10'],
    [1_234_567n, '1.234567'],
    [1_230_000n, '1.23'],
    [1_000_000_000n, '1000.00'],
  ])('%s atomic is written %s', (amount, text) => {
    expect(formatUsdc(usdc(amount))).toBe(text)
  })

  test('is the same whether it comes as text or as a number', () => {
    fc.assert(
      fc.property(atomic, (amount) => {
        expect(usdc(amount.toString())).toBe(amount)
      }),
    )
  })

  test.each(['', ' ', '-1', '+1', '1.5', '1e6', '0x10', '1 000', '１', `${'9'.repeat(31)}`])(
    'is not made of %j',
    (text) => {
      expect(() => usdc(text)).toThrow(/not an amount of USDC/)
    },
  )

  test('is never negative', () => {
    expect(() => usdc(-1n)).toThrow(/not an amount of USDC/)
  })

  test('has ten thousand atoms a cent', () => {
    expect(usdcFromCents(cents(1))).toBe(10_000n)
    expect(usdcFromCents(cents(Number.MAX_SAFE_INTEGER))).toBe(9_007_199_254_740_991n * 10_000n)
  })
})

test.each([0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
  '%s is no number of cents',
  (value) => {
    expect(() => cents(value)).toThrow(/not whole cents/)
  },
)

test.each([
  ['0', 0n],
  ['25', 25_000_000n],
  ['12.5', 12_500_000n],
  ['0.000001', 1n],
  ['007', 7_000_000n],
  ['999999999.999999', 999_999_999_999_999n],
])('%s USDC is %s atomic', (text, atomic) => {
  expect(usdcFromText(text)).toBe(atomic)
})

test.each(['', '1,5', '-1', '1e3', '.5', '0.0000001'])('"%s" is no amount of USDC', (text) => {
  expect(() => usdcFromText(text)).toThrow()
})
