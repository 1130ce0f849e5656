/** From here on a countdown is shown; before, it would only hurry. */
const nearMinutes = 5

/** "14:32 UTC": the server does not know where its visitor is. */
export function clockTime(time: Date): string {
  return `${time.toISOString().slice(11, 16)} UTC`
}

/** Whole minutes, rounded up, while it is near the end; undefined before and after. */
export function minutesLeft(now: Date, end: Date): number | undefined {
  const minutes = Math.ceil((end.getTime() - now.getTime()) / 60_000)
  return minutes > 0 && minutes <= nearMinutes ? minutes : undefined
}
