/** The clock of a model world. */
export interface Clock {
  readonly now: () => Date
  /** Schedules an event of the world. */
  later(ms: number, act: () => void): void
}

/** A clock that only moves on demand. */
export interface HandClock extends Clock {
  /** Moves the clock; the events scheduled for that time happen in order. */
  pass(ms: number): void
}

export function modelClock(start: Date): HandClock {
  let time = start.getTime()
  let agenda: { readonly at: number; readonly act: () => void }[] = []

  function nextBy(end: number) {
    const [next] = agenda.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)
    agenda = agenda.filter((entry) => entry !== next)
    return next
  }

  return {
    now: () => new Date(time),
    pass(ms) {
      const end = time + ms
      for (let next = nextBy(end); next; next = nextBy(end)) {
        time = Math.max(time, next.at)
        next.act()
      }
      time = end
    },
    later: (ms, act) => agenda.push({ at: time + ms, act }),
  }
}
