import { expect, test } from 'vitest'
import { usdcText } from './money.ts'

test.each([
  [0n, '0.00'],
  [1n, '0.000001'],
  [350_000n, '0.35'],
  [1_234_500n, '1.2345'],
  [997_600_000n, '997.60'],
  [1_000_000_000n, '1000.00'],
  [-500_000n, '-0.50'],
])('%s atomic is %s USDC', (atomic, text) => {
  expect(usdcText(atomic)).toBe(text)
})
