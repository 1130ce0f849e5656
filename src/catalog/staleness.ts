import type { ListName } from './offer.ts'
import type { RateTable } from './ports.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Rates are published once on every day on which TARGET is open; two such days may be missed. */
const rateMaxAgeMs = 48 * hourMs

/** The list is read every 15 minutes. Without a good reading for this long its prices may be wrong. */
const listMaxAgeMs = 24 * hourMs

/** The days on which no rates are published do not count, since those of the day before are the newest there are. */
export function isStale(table: RateTable, now: Date): boolean {
  const end = now.getTime()
  let from = table.asOf.getTime()
  let counted = 0
  while (from < end && counted <= rateMaxAgeMs) {
    const midnight = (Math.floor(from / dayMs) + 1) * dayMs
    const until = Math.min(midnight, end)
    if (!isClosingDay(new Date(from))) counted += until - from
    from = until
  }
  return counted > rateMaxAgeMs
}

export function isOldList(readAt: Date, now: Date): boolean {
  return now.getTime() - readAt.getTime() > listMaxAgeMs
}

interface Aging {
  readonly rates: () => RateTable | undefined
  readonly readAt: (list: ListName) => Date
  readonly now: () => Date
}

/** When this changes, so does what is sold. @param sizes how many offers each list has */
export function staleParts(
  { rates, readAt, now }: Aging,
  sizes: Readonly<Record<ListName, number>>,
): string {
  const table = rates()
  const at = now()
  const old = Object.keys(sizes).filter((list) => isOldList(readAt(list), at))
  return (table !== undefined && isStale(table, at) ? [...old, 'rates'] : old).join(' ')
}

/**
 * The days on which the ECB publishes no reference rates (UTC): weekends and the closing days of TARGET (Guideline
 * ECB/2022/8, Annex I; in force since 2002).
 */
export function isClosingDay(day: Date): boolean {
  const weekday = day.getUTCDay()
  if (weekday === 0 || weekday === 6) return true
  const [year, month, date] = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()]
  if (fixedDays.has(`${month + 1}-${date}`)) return true
  const fromEaster = Math.round((Date.UTC(year, month, date) - easterOf(year)) / dayMs)
  return fromEaster === goodFriday || fromEaster === easterMonday
}

const fixedDays: ReadonlySet<string> = new Set(['1-1', '5-1', '12-25', '12-26'])
const goodFriday = -2
const easterMonday = 1

/** By the rule of Meeus, Jones and Butcher. */
function easterOf(year: number): number {
  const [golden, century, rest] = [year % 19, Math.floor(year / 100), year % 100]
  const [leaps, leapRest] = [Math.floor(century / 4), century % 4]
  const moon = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3)
  const epact = (19 * golden + century - leaps - moon + 15) % 30
  const weekday = (32 + 2 * leapRest + 2 * Math.floor(rest / 4) - epact - (rest % 4)) % 7
  const late = Math.floor((golden + 11 * epact + 22 * weekday) / 451)
  const days = epact + weekday - 7 * late + 114
  return Date.UTC(year, Math.floor(days / 31) - 1, (days % 31) + 1)
}
