/**
 * Whether the ECB publishes no reference rates on this day (UTC): weekends and the closing days of
 * TARGET, which are 1 January, Good Friday, Easter Monday, 1 May, 25 and 26 December
 * (Guideline ECB/2022/8, Annex I; in force since 2002).
 */
export function isClosingDay(day: Date): boolean {
  const weekday = day.getUTCDay()
  if (weekday === 0 || weekday === 6) return true
  const [year, month, date] = [day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate()]
  if (fixedDays.has(`${month + 1}-${date}`)) return true
  const fromEaster = Math.round((Date.UTC(year, month, date) - easterOf(year)) / dayMs)
  return fromEaster === goodFriday || fromEaster === easterMonday
}

const dayMs = 86_400_000
const fixedDays: ReadonlySet<string> = new Set(['1-1', '5-1', '12-25', '12-26'])
const goodFriday = -2
const easterMonday = 1

/** Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher. */
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
