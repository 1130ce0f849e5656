import { describe, expect, test } from 'vitest'
import type { RateTable } from '../../catalog/ports.ts'
import { createSieve } from './frankfurter.ts'

const now = new Date('2026-11-20T16:00:00Z')
const day = 86_400_000
const real = { EUR: 0.86, GBP: 0.75, CHF: 0.8, JPY: 152, CAD: 1.39, AUD: 1.53, KRW: 1430, SEK: 9.4 }

const tableOf = (perUsd: Record<string, number>, asOf = now): RateTable => ({
  asOf,
  source: 'the source',
  perUsd,
})
const sieve = () => createSieve(() => now)

test('a table of real rates is taken whole', () => {
  expect(sieve()(tableOf(real))).toEqual({ table: tableOf(real), refused: [] })
})

describe('of a table that was not seen before', () => {
  test.each(Object.entries(real))('%s upside down is refused', (currency, rate) => {
    const { table, refused } = sieve()(tableOf({ ...real, [currency]: 1 / rate }))
    const { [currency]: _, ...others } = real as Record<string, number>
    expect(table.perUsd).toEqual(others)
    expect(refused).toEqual([expect.stringContaining(currency)])
  })

  test.each(
    Object.entries(real).flatMap(([currency, rate]) =>
      [1e-9, rate / 100, rate * 100, rate * 10, rate / 10].map(
        (wrong) => [currency, wrong] as const,
      ),
    ),
  )('%s of %s is refused', (currency, wrong) => {
    const { table } = sieve()(tableOf({ ...real, [currency]: wrong }))
    expect(table.perUsd).not.toHaveProperty(currency)
  })

  test('nothing is taken where most of it is upside down', () => {
    const inverted = Object.entries(real).map(([currency, rate]) => [currency, 1 / rate])
    expect(() => sieve()(tableOf(Object.fromEntries(inverted)))).toThrow(
      /^the source is not believed/,
    )
  })

  test('a currency that nobody can vouch for is left out without an alarm', () => {
    expect(sieve()(tableOf({ ...real, ARS: 1410 }))).toEqual({ table: tableOf(real), refused: [] })
  })
})

describe('of a table that follows another', () => {
  const next = (after: number) => new Date(now.getTime() + after * day)

  test('a rate that jumped is refused, each time it is told, and the others are taken', () => {
    const sift = createSieve(() => next(3))
    sift(tableOf(real))
    for (const after of [1, 2, 3]) {
      const { table, refused } = sift(tableOf({ ...real, JPY: 190, EUR: 0.87 }, next(after)))
      expect(table.perUsd).toMatchObject({ EUR: 0.87 })
      expect(table.perUsd).not.toHaveProperty('JPY')
      expect(refused).toEqual(['JPY 190 comes after 152'])
    }
  })

  test('it is believed after a week, or as soon as it is back', () => {
    const sift = createSieve(() => next(9))
    sift(tableOf(real))
    expect(sift(tableOf({ ...real, JPY: 190 }, next(1))).refused).toHaveLength(1)
    expect(sift(tableOf({ ...real, JPY: 150 }, next(2))).refused).toEqual([])
    expect(sift(tableOf({ ...real, JPY: 190 }, next(9))).refused).toHaveLength(1)
    expect(sift(tableOf({ ...real, JPY: 190 }, next(9.1))).table.perUsd).toMatchObject({ JPY: 190 })
  })
})

test.each([
  ['2026-11-20T15:00:00Z', true],
  ['2026-11-21T15:00:00Z', true],
  ['2026-11-22T15:00:00Z', false],
  ['2099-01-01T15:00:00Z', false],
])('a table of %s is taken on 20 November 2026: %s', (asOf, isTaken) => {
  const act = () => sieve()(tableOf(real, new Date(asOf)))
  if (isTaken) expect(act().refused).toEqual([])
  else expect(act).toThrow(/^the source dates its rates/)
})
