import { expect, test } from 'vitest'
import { backOffMs } from './message.ts'

test('attempts come further and further apart, up to an hour', () => {
  const longest = [1, 2, 3, 4, 10, 11, 12, 80].map((attempts) => backOffMs(attempts, 0))
  const [hour, second] = [3_600_000, 1_000]
  expect(longest).toEqual([5, 10, 20, 40, 2_560, 3_600, 3_600, 3_600].map((s) => s * second))
  expect(backOffMs(80, 1)).toBe(hour / 2)
  expect(backOffMs(2, 0.5)).toBe(7_500)
})
