import { isClosingDay } from './closing-days.ts'
import type { ListName } from './offer.ts'
import type { RateTable } from './ports.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Rates are published once on every day on which TARGET is open; two such days may be missed. */
const rateMaxAgeMs = 48 * hourMs

/**
 * A supplier may change its prices at any time, and its list is read every 15 minutes. If it could not be read for
 * this long, its offers are not sold, because their prices may be wrong.
 */
const listMaxAgeMs = 24 * hourMs

/**
 * Whether a table is too old to price with: more than 48 h old, not counting the days on which no
 * rates are published, since those of the day before are the newest there are.
 */
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

/** Whether a list of this time is too old to sell by. */
export function isOldList(readAt: Date, now: Date): boolean {
  return now.getTime() - readAt.getTime() > listMaxAgeMs
}

/** What prices depend on and that can become too old. */
interface Aging {
  readonly rates: () => RateTable | undefined
  readonly readAt: (list: ListName) => Date
  readonly now: () => Date
}

/**
 * Names the lists, and the rates, that are too old to sell by now. When this changes, so does what is sold.
 *
 * @param sizes how many offers each list has
 */
export function staleParts(
  { rates, readAt, now }: Aging,
  sizes: Readonly<Record<ListName, number>>,
): string {
  const table = rates()
  const at = now()
  const old = Object.keys(sizes).filter((list) => isOldList(readAt(list), at))
  return (table !== undefined && isStale(table, at) ? [...old, 'rates'] : old).join(' ')
}
