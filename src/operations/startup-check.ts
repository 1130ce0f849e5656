import type { Health } from '../health/health.ts'
import { repeat } from '../lib/repeat.ts'
import { within } from '../lib/within.ts'
import {
  refundsBefore,
  refusalText,
  type StartupSources,
  unknownRefunds,
} from '../reconcile/startup-check.ts'
import type { LoopDeps } from './loops.ts'

/** The startup waits this long for the chain. */
const startWaitMs = 10_000
const retryMs = 2_000

/** The database is older than the chain, so the store must neither sell nor deliver. */
export class RecordTooOld extends Error {
  override readonly name = 'RecordTooOld'
}

export interface StartupCheck {
  /** Resolves to true when the database is as recent as the chain, or to false when the store stops first. */
  readonly passed: Promise<boolean>
  /** Resolves only when the chain answered late and the store must not run. */
  readonly refused: Promise<RecordTooOld>
}

/**
 * Checks the chain before an empty database is set up, so that a refused start leaves it empty. If the chain
 * does not answer in time, `checkStartup` checks it again.
 *
 * @throws RecordTooOld
 */
export async function requireNoRefunds(chain: StartupSources['chain']): Promise<void> {
  const seen = within(startWaitMs, refundsBefore(chain), 'The chain did not answer.')
  const unknown = await seen.catch(() => [])
  if (unknown.length > 0) throw new RecordTooOld(refusalText(unknown))
}

/**
 * Checks before any sale or sweep that every refund on the chain is on record. While the chain does not
 * answer, the store shows its offers and accepts no purchases.
 *
 * @throws RecordTooOld when the chain answers in time and has a refund that is not on record
 */
export async function checkStartup(
  sources: StartupSources,
  health: Pick<Health, 'hold'>,
  loop: LoopDeps,
): Promise<StartupCheck> {
  const settled = new AbortController()
  const refused = Promise.withResolvers<RecordTooOld>()
  let isKnown = false
  const task = async () => {
    try {
      const unknown = await unknownRefunds(sources)
      isKnown = unknown.length === 0
      if (isKnown) health.hold(undefined)
      else refused.resolve(new RecordTooOld(refusalText(unknown)))
      settled.abort()
      return true
    } catch (error) {
      loop.failed('start guard', error)
      return false
    }
  }
  health.hold('The chain has not answered yet whether every refund on it is on record.')
  const signal = AbortSignal.any([loop.signal, settled.signal])
  const passed = repeat(task, { everyMs: retryMs, retryMs, signal }).then(() => isKnown)
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, startWaitMs)
  const first = await Promise.race([refused.promise, passed, timeout.promise])
  clearTimeout(timer)
  if (first instanceof RecordTooOld) throw first
  return { passed, refused: refused.promise }
}
