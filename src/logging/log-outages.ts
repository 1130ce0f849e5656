/** Longer than a statement that hangs takes to fail, so that one outage is not reported as several. */
const quietMs = 30_000

/** What has failed again and again, and for how long. */
export interface Outage {
  readonly what: string
  readonly failures: number
  readonly seconds: number
}

interface Failing {
  failures: number
  lastAt: number
  readonly timer: NodeJS.Timeout
}

/**
 * Groups failures of one kind into one outage, until none has come for 30 s: work that is tried four times a
 * second, or a fault that many requests meet, would fill the log.
 *
 * A single failure is no outage: rare work, as a retry every minute, may still fail when it is next tried.
 *
 * @param ended is called with each outage when it is over
 * @returns a function that notes a failure, and returns whether an outage begins with it
 */
export function groupingOutages(ended: (outage: Outage) => void): (what: string) => boolean {
  const outages = new Map<string, Failing>()

  function begin(what: string): void {
    const since = Date.now()
    const end = () => {
      outages.delete(what)
      const { failures, lastAt } = failing
      if (failures > 1) ended({ what, failures, seconds: Math.round((lastAt - since) / 1_000) })
    }
    const timer = setTimeout(end, quietMs).unref()
    const failing: Failing = { failures: 1, lastAt: since, timer }
    outages.set(what, failing)
  }

  return (what) => {
    const known = outages.get(what)
    if (known === undefined) {
      begin(what)
      return true
    }
    known.failures += 1
    known.lastAt = Date.now()
    known.timer.refresh()
    return false
  }
}
