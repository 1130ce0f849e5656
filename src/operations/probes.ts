import type { Vitals } from '../health/vitals.ts'
import { repeat } from '../primitives/repeat.ts'

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

/** Probes at once and then every 10 s, sooner after a failure, until the signal says stop. */
export function probing(probes: Probes, vitals: Vitals, signal: AbortSignal): Promise<void> {
  const task = async () => {
    const seen = await Promise.all(
      Object.entries(probes).map(([part, probe]) =>
        noted(part as keyof Probes, vitals, async () => {
          await probe()
          return true
        }),
      ),
    )
    return seen.every(Boolean)
  }
  return repeat(task, { everyMs: probeEveryMs, retryMs: probeAgainMs, signal })
}

/** What a look at a part saw, or undefined when it failed. Either way it tells of the part's health. */
export async function noted<T>(
  part: keyof Probes,
  vitals: Pick<Vitals, 'note'>,
  look: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const seen = await look()
    vitals.note(part, true)
    return seen
  } catch (error) {
    vitals.note(part, false, shortly(error))
    return undefined
  }
}

function shortly(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.slice(0, 200)
}
