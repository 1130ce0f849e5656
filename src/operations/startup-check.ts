import type { Health } from '../health/health.ts'
import { repeat, within } from '../lib/scheduling.ts'
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
const maxRetryMs = 10_000

/** The database is older than the chain, so the store must neither sell nor deliver. */
export class RecordTooOld extends Error {
  override readonly name = 'RecordTooOld'
}

/** Somebody who has the key of an earlier refund wallet sent authorized transfers from it. */
export interface EarlierWalletEvent {
  readonly name: 'earlier_wallet_used'
  readonly transfers: number
  readonly wallet: string
  readonly transaction: string
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
 * answer, the store shows its offers and accepts no purchases. If it answers late that a refund is missing, the
 * store goes on like that, until the operator has acknowledged the refund.
 *
 * @returns `passed`: true when the database is as recent as the chain, or false when the store stops first
 * @throws RecordTooOld when the chain answers in time and has a refund that is not on record
 */
export async function checkStartup(
  sources: StartupSources,
  health: Pick<Health, 'hold'>,
  { signal, failed, report }: LoopDeps & { readonly report: (event: EarlierWalletEvent) => void },
) {
  const settled = new AbortController()
  const refused = Promise.withResolvers<RecordTooOld>()
  let isPassed = false
  let isLate = false
  const task = async () => {
    try {
      const { own, later } = await unknownRefunds(sources)
      if (own.length > 0) {
        const error = new RecordTooOld(refusalText(own))
        health.hold(error.message)
        refused.resolve(error)
        if (isLate) failed('start guard', error)
        return true
      }
      const [first] = later
      if (first !== undefined) {
        const { from: wallet, transaction } = first
        report({ name: 'earlier_wallet_used', transfers: later.length, wallet, transaction })
      }
      isPassed = true
      health.hold(undefined)
      settled.abort()
      return true
    } catch (error) {
      failed('start guard', error)
      return false
    }
  }
  health.hold('The chain has not answered yet whether every refund on it is on record.')
  const until = AbortSignal.any([signal, settled.signal])
  const passed = repeat(task, { everyMs: maxRetryMs, retryMs, signal: until }).then(() => isPassed)
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, startWaitMs)
  const first = await Promise.race([refused.promise, passed, timeout.promise])
  clearTimeout(timer)
  isLate = true
  if (first instanceof RecordTooOld) {
    settled.abort()
    throw first
  }
  return { passed }
}
