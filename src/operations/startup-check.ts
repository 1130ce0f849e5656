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

/** How long a start waits for the chain, which may be slow or silent. */
const startWaitMs = 10_000
const retryMs = 2_000

/** The record is older than the chain: nothing may be sold or delivered by it. */
export class RecordTooOld extends Error {
  override readonly name = 'RecordTooOld'
}

export interface Guard {
  /** True once the record is known to be as new as the chain; false when the store stops before. */
  readonly passed: Promise<boolean>
  /** Comes only when the chain answered late, and shows that the store must not run. */
  readonly refused: Promise<RecordTooOld>
}

/**
 * Looks before an empty database is taken, so that a start which is refused leaves it empty. A chain that
 * does not answer in time is looked at again by `guarding`.
 *
 * @throws RecordTooOld
 */
export async function requireNoRefunds(chain: StartupSources['chain']): Promise<void> {
  const seen = within(startWaitMs, refundsBefore(chain), 'The chain did not answer.')
  const unknown = await seen.catch(() => [])
  if (unknown.length > 0) throw new RecordTooOld(refusalText(unknown))
}

/**
 * Looks, before anything is sold or swept, whether every refund on the chain is on record. While the
 * chain does not answer, the store is held: it shows what it has and takes no purchase.
 *
 * @throws RecordTooOld when the chain answers in time and has a refund that is not on record
 */
export async function checkStartup(
  sources: StartupSources,
  health: Pick<Health, 'hold'>,
  loop: LoopDeps,
): Promise<Guard> {
  const ended = new AbortController()
  const refused = Promise.withResolvers<RecordTooOld>()
  let isKnown = false
  const task = async () => {
    try {
      const unknown = await unknownRefunds(sources)
      isKnown = unknown.length === 0
      if (isKnown) health.hold(undefined)
      else refused.resolve(new RecordTooOld(refusalText(unknown)))
      ended.abort()
      return true
    } catch (error) {
      loop.failed('start guard', error)
      return false
    }
  }
  health.hold('It is not known yet whether every refund on the chain is on record.')
  const signal = AbortSignal.any([loop.signal, ended.signal])
  const passed = repeat(task, { everyMs: retryMs, retryMs, signal }).then(() => isKnown)
  const waited = Promise.withResolvers<void>()
  const timer = setTimeout(waited.resolve, startWaitMs)
  const first = await Promise.race([refused.promise, passed, waited.promise])
  clearTimeout(timer)
  if (first instanceof RecordTooOld) throw first
  return { passed, refused: refused.promise }
}
