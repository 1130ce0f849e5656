import type { Cancelled } from '../../../orders/ports.ts'
import type { Answer } from '../../json-call.ts'
import type { ZenditClient } from './client.ts'
import { refusalOf } from './errors.ts'
import { recordOf } from './raw.ts'

const statuses = ['ACCEPTED', 'PENDING', 'AUTHORIZED', 'IN_PROGRESS', 'DONE', 'FAILED', 'FAIL']

/**
 * Gives an eSIM back (suppliers A.10). An accepted refund counts as done: it is the supplier's word
 * that the amount returns to the wallet. Asked again, or refused, the refund's own record decides.
 *
 * @param reference alphanumeric
 */
export async function cancelEsim(client: ZenditClient, reference: string): Promise<Cancelled> {
  const path = `/esim/purchases/${reference}/refund`
  const asked = verdictOf(await client.post(path, {}))
  if (asked.outcome !== 'refused') return asked
  const recorded = verdictOf(await client.get(path))
  return recorded.outcome === 'refused' ? asked : recorded
}

function verdictOf(answer: Answer): Cancelled {
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 200) return statusVerdict(recordOf(answer.body)?.['status'])
  const refusal = [400, 404].includes(answer.status) ? refusalOf(answer) : undefined
  return refusal === undefined
    ? { outcome: 'unknown', reason: `the supplier's answer (${answer.status}) does not settle it` }
    : { outcome: 'refused', reason: `the supplier takes this eSIM not back (${refusal.code})` }
}

function statusVerdict(status: unknown): Cancelled {
  if (typeof status !== 'string' || !statuses.includes(status)) {
    return { outcome: 'unknown', reason: 'the refund has a state that is not documented' }
  }
  return status.startsWith('FAIL')
    ? { outcome: 'refused', reason: 'the refund of this eSIM failed at the supplier' }
    : { outcome: 'cancelled' }
}
