import type { Health } from '../health/health.ts'
import { repeat } from '../lib/repeat.ts'

/**
 * Looks at the parts that purchases need. Each throws when it is not well. They are the only evidence
 * of a part's health besides the operator's own scrapes: how a purchase ends depends on what its
 * payer sent, on the code of its wallet and on what the supplier makes of the number or card in it,
 * so a few free requests would otherwise stop the store for everybody.
 */
export interface Probes {
  readonly database: () => Promise<unknown>
  readonly chain: () => Promise<unknown>
  readonly supplier: () => Promise<unknown>
}

const probeEveryMs = 10_000
/** After a failure; doubles up to the usual time, so that an outage is known within seconds. */
const probeAgainMs = 1_000
/** The database is near, and nothing is sold without it. */
const databaseEveryMs = 500

/**
 * Probes at once and then again and again, until the signal says stop: chain and supplier every 10 s,
 * and sooner after a failure; the database every half second, also while an earlier look at it has no
 * answer yet, so that three looks have failed within 3 s of its last answer.
 */
export async function runHealthChecks(
  probes: Probes,
  health: Health,
  signal: AbortSignal,
): Promise<void> {
  const look = async (part: keyof Probes) =>
    (await noted(part, health, async () => {
      await probes[part]()
      return true
    })) === true
  const underWay = new Set<Promise<unknown>>()
  const beginAtDatabase = async () => {
    const one = look('database').finally(() => underWay.delete(one))
    underWay.add(one)
    return true
  }
  const outside = { everyMs: probeEveryMs, retryMs: probeAgainMs, signal }
  await Promise.all([
    repeat(() => look('chain'), outside),
    repeat(() => look('supplier'), outside),
    repeat(beginAtDatabase, { everyMs: databaseEveryMs, retryMs: databaseEveryMs, signal }),
  ])
  await Promise.all(underWay)
}

/** What a look at a part saw, or undefined when it failed. Either way it tells of the part's health. */
export async function noted<T>(
  part: keyof Probes,
  health: Pick<Health, 'note'>,
  look: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const seen = await look()
    health.note(part, true)
    return seen
  } catch (error) {
    health.note(part, false, shortly(error))
    return undefined
  }
}

function shortly(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.slice(0, 200)
}
