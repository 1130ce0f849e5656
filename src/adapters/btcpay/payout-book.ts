import { coins } from '../../payments/coins.ts'
import type { ProcessorPayout, ProcessorPayouts } from '../../reconcile/ports.ts'
import { type Greenfield, type Heard, saidOf } from './greenfield.ts'
import { transactionOfProof } from './proofs.ts'
import { type Claimable, claimablesOf, listPullPayments, unitsIn } from './pull-payments.ts'

/**
 * Every payout that was claimed from a pull payment of such a name and not cancelled. One call lists
 * the pull payments, and one for each of those tells what was claimed from it.
 */
export async function readPayouts(
  greenfield: Greenfield,
  isNamed: (reference: string) => boolean,
): Promise<ProcessorPayouts> {
  const pulls = await listPullPayments(greenfield, (name) => isNamed(name ?? ''))
  if (pulls.outcome !== 'ok') return unknown(pulls)
  const claimables = await claimablesOf(greenfield, pulls.value)
  if (claimables.outcome !== 'ok') return unknown(claimables)
  return { outcome: 'found', payouts: claimables.value.flatMap(payoutsIn) }
}

function payoutsIn({ pull, payouts }: Claimable): ProcessorPayout[] {
  const currency = pull.currency.toUpperCase()
  const coin = coins.find((one) => one === currency)
  return payouts
    .filter(({ state }) => state !== 'Cancelled')
    .map(({ destination, originalAmount, state, paymentProof }) => ({
      reference: pull.name ?? '',
      coin: currency,
      to: destination,
      units: coin && unitsIn(originalAmount, coin),
      isSent: state === 'Completed',
      transaction: transactionOfProof(paymentProof),
    }))
}

function unknown(heard: Exclude<Heard<unknown>, { outcome: 'ok' }>): ProcessorPayouts {
  return { outcome: 'unknown', reason: heard.outcome === 'refused' ? saidOf(heard) : heard.reason }
}
