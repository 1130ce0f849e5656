import type { Logger } from 'pino'

/** Longer than a statement that hangs takes to fail, so that one outage is not told as several. */
const quietMs = 30_000

interface Outage {
  failures: number
  lastAt: number
  readonly timer: NodeJS.Timeout
}

/**
 * Tells of background work that fails: one line when that begins, and one when nothing of the kind has
 * failed for a while, with how often it had. What is tried four times a second would fill the log.
 */
export function tellingOutages(log: Logger): (what: string, error: unknown) => void {
  const outages = new Map<string, Outage>()

  function begin(what: string): Outage {
    const since = Date.now()
    const end = () => {
      const { failures, lastAt } = outages.get(what) ?? outage
      outages.delete(what)
      const lasted = Math.round((lastAt - since) / 1_000)
      log.warn({ what, failures, seconds: lasted }, 'background work goes on')
    }
    const outage: Outage = { failures: 0, lastAt: since, timer: setTimeout(end, quietMs).unref() }
    outages.set(what, outage)
    return outage
  }

  return (what, error) => {
    const known = outages.get(what)
    if (known === undefined) log.error({ error, what }, 'background work failed')
    const outage = known ?? begin(what)
    outage.failures += 1
    outage.lastAt = Date.now()
    outage.timer.refresh()
  }
}
