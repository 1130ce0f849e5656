import type { Answer } from '../../adapters/json-call.ts'
import type { Cancelled } from '../supplier.ts'
import type { ZenditClient } from './client.ts'
import { refusalOf } from './errors.ts'
import { recordOf } from './raw.ts'

/**
 * Gives an eSIM back. At Zendit the refund is a transaction of its own, which may still fail after it was
 * accepted: only its record says that the money is in the wallet again. So this reads the record first, and
 * asks for a refund only if there is none.
 *
 * @param reference alphanumeric
 * @param isRepeat whether it may have been asked for before
 */
export async function cancelEsim(
  client: ZenditClient,
  reference: string,
  isRepeat: boolean,
): Promise<Cancelled> {
  const path = `/esim/purchases/${reference}/refund`
  const recorded = verdictOf(await client.get(path))
  return recorded === 'none' ? askedFor(client, path, isRepeat) : recorded
}

/**
 * Asks for the refund. The refusal of a first request is final. A repeated request may be refused because the
 * first one was accepted and its record is not shown yet.
 */
async function askedFor(client: ZenditClient, path: string, isRepeat: boolean): Promise<Cancelled> {
  const answer = await client.post(path, {})
  const verdict = verdictOf(answer)
  if (verdict !== 'none') return verdict
  return { outcome: isRepeat ? 'unknown' : 'refused', reason: refusedBy(answer) }
}

function refusedBy(answer: Answer): string {
  const code = answer.outcome === 'answered' ? refusalOf(answer)?.code : undefined
  return `the supplier does not take this eSIM back (${code})`
}

/** `none` if the supplier has no such refund, or refuses it. */
function verdictOf(answer: Answer): Cancelled | 'none' {
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 200) return statusVerdict(recordOf(answer.body)?.['status'])
  const isRefused = [400, 404].includes(answer.status) && refusalOf(answer) !== undefined
  const reason = `the supplier's answer (${answer.status}) does not settle it`
  return isRefused ? 'none' : { outcome: 'unknown', reason }
}

function statusVerdict(status: unknown): Cancelled {
  if (typeof status !== 'string') {
    return { outcome: 'unknown', reason: 'the refund has no state' }
  }
  switch (status) {
    case 'DONE':
      return { outcome: 'cancelled' }
    case 'FAILED':
    case 'FAIL':
      return { outcome: 'refused', reason: 'the refund of this eSIM failed at the supplier' }
    default:
      return { outcome: 'pending' }
  }
}
