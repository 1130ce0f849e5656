import type { Health } from '../health/health.ts'
import { messageOf } from '../lib/errors.ts'
import { repeat } from '../lib/scheduling.ts'

/**
 * Each throws when its part is unhealthy. Purchases say nothing about a part, because their outcomes depend on the
 * payer: a few free requests could stop the store for everybody.
 */
export interface Probes {
  readonly database: () => Promise<unknown>
  readonly chain: () => Promise<unknown>
  readonly suppliers: ReadonlyMap<string, () => Promise<unknown>>
}

const checkEveryMs = 10_000
const checkRetryMs = 1_000
const databaseEveryMs = 500

/**
 * Checks the chain and the suppliers every 10 s, and sooner after a failure; the database every half second, even
 * while an earlier check is unanswered, so that three checks have failed within 3 s of its last answer.
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
    const one = check(probes.database, (...outcome) => health.note('database', ...outcome))
    pending.add(one)
    void one.then(() => pending.delete(one))
    return true
  }
  const outside = { everyMs, retryMs: checkRetryMs, signal }
  await Promise.all([
    repeat(() => check(probes.chain, (...outcome) => health.note('chain', ...outcome)), outside),
    ...Array.from(probes.suppliers, ([name, probe]) =>
      repeat(() => check(probe, (...outcome) => health.noteSupplier(name, ...outcome)), outside),
    ),
    repeat(startDatabaseCheck, { everyMs: databaseEveryMs, retryMs: databaseEveryMs, signal }),
  ])
  await Promise.all(pending)
}

export async function noteOutcome<T>(
  note: (ok: boolean, detail?: string) => void,
  check: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const value = await check()
    note(true)
    return value
  } catch (error) {
    note(false, messageOf(error).split('\n')[0]?.slice(0, 200))
    return undefined
  }
}
