import type { Cover, Vitals } from '../health/vitals.ts'
import { repeat } from '../primitives/repeat.ts'

const lookEveryMs = 5_000

/** Where what refunds are paid from, and what may have to be paid back, can be seen. Both may throw. */
export interface CoverSources {
  readonly float: () => Promise<Cover['float']>
  readonly exposure: () => Promise<Cover['exposure']>
}

/**
 * Looks at once and then every 5 s whether the wallet for refunds covers what is open. Purchases are
 * held against what was seen last: nearly all are delivered within a second, so what was sold since
 * then is not counted, neither here nor on other nodes.
 */
export function covering(
  { float, exposure }: CoverSources,
  vitals: Pick<Vitals, 'noteCover'>,
  signal: AbortSignal,
): Promise<void> {
  const task = async () => {
    try {
      const [held, owed] = await Promise.all([float(), exposure()])
      vitals.noteCover({ float: held, exposure: owed })
    } catch {
      // The probes of the chain and the database tell what is wrong with them.
      vitals.noteCover(undefined)
    }
    return true
  }
  return repeat(task, { everyMs: lookEveryMs, retryMs: lookEveryMs, signal })
}
