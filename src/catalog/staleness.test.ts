import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isClosingDay, isOldList, isStale, staleParts } from './staleness.ts'

const hour = 3_600_000
const from = (day: string) => ({ asOf: new Date(day), source: 'fixture', perUsd: {} })
const stale = (day: string, hours: number) =>
  isStale(from(day), new Date(new Date(day).getTime() + hours * hour))

describe('a rate table', () => {
  test.each([
    // 2026-11-16 is a Monday.
    ['2026-11-16T15:00:00Z', 48],
    ['2026-11-17T00:00:00Z', 48],
    ['2026-11-18T15:00:00Z', 48],
    ['2026-11-19T15:00:00Z', 96],
    ['2026-11-20T15:00:00Z', 96],
    // Christmas 2026 is on a Friday and a Saturday, New Year 2027 on a Friday.
    ['2026-12-23T15:00:00Z', 120],
    ['2026-12-24T15:00:00Z', 120],
    ['2026-12-31T15:00:00Z', 120],
    // Easter 2027 is 28 March.
    ['2027-03-24T15:00:00Z', 48 + 96],
    ['2027-03-25T15:00:00Z', 48 + 96],
    ['2026-04-30T15:00:00Z', 120],
  ])('of %s is good for %s h', (day, hours) => {
    expect(stale(day, hours)).toBe(false)
    expect(stale(day, hours + 0.001)).toBe(true)
  })

  test('that was once too old never becomes good again', () => {
    const start = new Date('2026-11-16T00:00:00Z').getTime()
    fc.assert(
      fc.property(fc.nat(60 * 24 * 60), fc.nat(200), fc.nat(200), (minutes, one, other) => {
        const day = new Date(start + minutes * 60_000).toISOString()
        const [sooner, later] = [Math.min(one, other), Math.max(one, other)]
        if (stale(day, sooner)) expect(stale(day, later)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('of any working day holds until the second one after it, however many days lie between', () => {
    const days = Array.from({ length: 5 * 366 }, (_, at) => Date.UTC(2026, 0, 1 + at))
    const working = days.filter((day) => !isClosingDay(new Date(day)))
    for (const [at, day] of working.slice(0, -2).entries()) {
      const end = (working[at + 2] as number) + 15 * hour
      const table = from(new Date(day + 15 * hour).toISOString())
      expect([isStale(table, new Date(end)), isStale(table, new Date(end + 1))]).toEqual([
        false,
        true,
      ])
    }
  })
})

test.each([
  [2024, '03-29', '04-01'],
  [2025, '04-18', '04-21'],
  [2026, '04-03', '04-06'],
  [2027, '03-26', '03-29'],
  [2038, '04-23', '04-26'],
])('in %i TARGET is closed on Good Friday, %s, and Easter Monday, %s', (year, friday, monday) => {
  const all = Array.from({ length: 365 }, (_, at) => new Date(Date.UTC(year, 0, 1 + at)))
  const closed = all
    .filter((day) => isClosingDay(day) && day.getUTCDay() % 6 !== 0)
    .map((day) => day.toISOString().slice(5, 10))
  const fixed = ['01-01', '05-01', '12-25', '12-26'].filter(
    (day) => new Date(`${year}-${day}T00:00Z`).getUTCDay() % 6 !== 0,
  )
  expect(closed).toEqual([...fixed, friday, monday].sort())
})

test('what is too old is named: lists, and the rates', () => {
  const now = new Date('2026-11-18T12:00:00Z')
  const ago = (hours: number) => new Date(now.getTime() - hours * hour)
  const parts = (hours: number, table: ReturnType<typeof from> | undefined) =>
    staleParts(
      {
        rates: () => table,
        readAt: (list) => (list === 'zendit/topup' ? ago(hours) : now),
        now: () => now,
      },
      { 'zendit/voucher': 1, 'zendit/topup': 2 },
    )
  expect(isOldList(ago(24), now)).toBe(false)
  expect(parts(24, from('2026-11-17T15:00:00Z'))).toBe('')
  expect(parts(25, undefined)).toBe('zendit/topup')
  expect(parts(25, from('2026-11-10T15:00:00Z'))).toBe('zendit/topup rates')
})
