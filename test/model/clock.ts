/** The one time of a model world. */
export interface Clock {
  readonly now: () => Date
  /** Plans something that the world does by itself. */
  later(ms: number, act: () => void): void
}

/** Stands still unless it is told to pass. */
export interface HandClock extends Clock {
  /** Lets time pass; what was planned for that time happens on its way, in order. */
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
