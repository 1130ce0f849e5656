import type { Health } from '../health/health.ts'
import { messageOf } from '../lib/errors.ts'
import { repeat } from '../lib/scheduling.ts'

/**
 * Health checks of the parts that purchases need. Each throws when its part is unhealthy. Purchases are not
 * evidence of a part's health, because their outcomes depend on the payer's input: a few free requests
 * could otherwise stop the store for everybody. Only these checks and the operator's scrapes count.
 */
export interface Probes {
  readonly database: () => Promise<unknown>
  readonly chain: () => Promise<unknown>
  readonly suppliers: ReadonlyMap<string, () => Promise<unknown>>
}

const checkEveryMs = 10_000
/** The first retry after a failure; it doubles up to the usual interval. An outage is thus known within seconds. */
const checkRetryMs = 1_000
/** The database is checked more often: it is near, and nothing is sold without it. */
const databaseEveryMs = 500

/**
 * Checks all parts at once and then repeatedly until the signal aborts: the chain and the suppliers every
 * 10 s, and sooner after a failure; the database every half second, even while an earlier check is
 * unanswered, so that three checks have failed within 3 s of its last answer.
 */
export async function runHealthChecks(
  probes: Probes,
  health: Health,
  signal: AbortSignal,
  everyMs = checkEveryMs,
): Promise<void> {
  const check = async (probe: () => Promise<unknown>, note: Parameters<typeof noteOutcome>[0]) =>
    (await noteOutcome(note, async () => [await probe()])) !== undefined
  const pending = new Set<Promise<unknown>>()
  const startDatabaseCheck = async () => {
    const one = check(probes.database, (...seen) => health.note('database', ...seen))
    pending.add(one)
    void one.then(() => pending.delete(one))
    return true
  }
  const outside = { everyMs, retryMs: checkRetryMs, signal }
  await Promise.all([
    repeat(() => check(probes.chain, (...seen) => health.note('chain', ...seen)), outside),
    ...Array.from(probes.suppliers, ([name, probe]) =>
      repeat(() => check(probe, (...seen) => health.noteSupplier(name, ...seen)), outside),
    ),
    repeat(startDatabaseCheck, { everyMs: databaseEveryMs, retryMs: databaseEveryMs, signal }),
  ])
  await Promise.all(pending)
}

/** Runs a check and notes its outcome. Returns undefined when the check failed. */
export async function noteOutcome<T>(
  note: (ok: boolean, detail?: string) => void,
  check: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const seen = await check()
    note(true)
    return seen
  } catch (error) {
    note(false, firstLineOf(error))
    return undefined
  }
}

function firstLineOf(error: unknown): string {
  const [line = ''] = messageOf(error).split('\n')
  return line.slice(0, 200)
}
