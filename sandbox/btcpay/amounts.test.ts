import { expect, test } from 'vitest'
import {
  formatDecimal,
  isRate,
  parseDecimal,
  roundPrice,
  unitsFor,
  worthDecimals,
  worthOf,
} from './amounts.ts'

const worth = (text: string) => parseDecimal(text, worthDecimals) ?? -1n
const written = (units: bigint) => formatDecimal(units, worthDecimals)

test('decimals are read exactly, or not at all', () => {
  expect(parseDecimal('0.00038825', 8)).toBe(38_825n)
  expect(parseDecimal('1.50', 1)).toBe(15n)
  expect(parseDecimal('-2', 2)).toBe(-200n)
  for (const text of ['', '.', '1e3', ' 1', '1,5', '0.001', '1.2.3', '+1', 'NaN']) {
    expect(parseDecimal(text, 2)).toBeUndefined()
  }
  expect(formatDecimal(38_825n, 8)).toBe('0.00038825')
  expect(formatDecimal(-5n, 1)).toBe('-0.5')
  expect(formatDecimal(100n, 2)).toBe('1')
})

test('what is due is rounded up to the smallest unit, and what is too much down to it', () => {
  expect(unitsFor(worth('25'), 8, '64392.23')).toBe(38_825n)
  expect(unitsFor(worth('25'), 6, '1')).toBe(25_000_000n)
  const surplus = worth('25') - worthOf(38_825n, 8, '64392.23')
  expect(surplus).toBeLessThan(0n)
  expect(unitsFor(surplus, 8, '64392.23')).toBe(0n)
})

test('prices are rounded as the real server rounds them', () => {
  expect(written(roundPrice(worth('1.234567')))).toBe('1.23')
  expect(written(roundPrice(worth('1.235')))).toBe('1.24')
  expect(written(roundPrice(worth('0.015')))).toBe('0.015')
  expect(written(roundPrice(worth('0.000001')))).toBe('0.000001')
  expect(written(roundPrice(0n))).toBe('0')
})

test('a rate is a positive decimal', () => {
  expect(['64392.23', '0.00000001'].every(isRate)).toBe(true)
  expect(['0', '-1', 'x', '1.000000001'].some(isRate)).toBe(false)
})
