import { z } from 'zod'
import { parseDecimal, worthDecimals, worthOf } from './amounts.ts'
import { coins } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { invalid, notFound, parsed, problem } from './errors.ts'
import { payoutEvent } from './events.ts'
import type { Payout } from './models.ts'
import { schedulePayout } from './processor.ts'

/** @throws ApiError 404 if there is no such payout */
export function payoutOf({ ledger }: Deps, id: string): Payout {
  const payout = ledger.find('payout', id)
  if (!payout) throw notFound('payout')
  return payout
}

/** Fixes the amount in the coin; after that the processor may send it. */
export function approve(deps: Deps, payout: Payout, now: number): Payout {
  if (payout.state !== 'AwaitingApproval') {
    throw problem(400, 'invalid-state', 'The payout is not in a state that can be approved')
  }
  const units = unitsOf(deps, payout)
  const coin = coins[payout.coin]
  if (units < coin.dust) {
    deps.ledger.commit({ ...payout, state: 'Cancelled' })
    throw problem(400, 'amount-too-low', 'The crypto amount is too small.')
  }
  const nextAt = now + deps.settings.payoutMs
  const approved: Payout = { ...payout, state: 'AwaitingPayment', units: String(units), nextAt }
  deps.ledger.commit(approved)
  tell(deps, payoutEvent('PayoutApproved', approved))
  schedulePayout(deps, approved, now)
  return approved
}

/** The amount at the current rate, rounded down to smallest units. An amount in the coin itself needs no rate. */
function unitsOf({ ledger }: Deps, { coin, originalAmount, originalCurrency }: Payout): bigint {
  const { rates } = ledger.settings()
  const currency = originalCurrency as keyof typeof rates | 'USD'
  const amount = parseDecimal(originalAmount, worthDecimals) ?? 0n
  const { decimals } = coins[coin]
  if (currency === coin) return amount / 10n ** BigInt(worthDecimals - decimals)
  const dollar = currency === 'USD' ? '1' : rates[currency]
  const worth = (amount * worthOf(1n, 0, dollar)) / 10n ** BigInt(worthDecimals)
  return worth / worthOf(1n, decimals, rates[coin])
}

/** Cancels a payout that was not sent yet. */
export function cancelPayout(deps: Deps, id: string): void {
  const payout = payoutOf(deps, id)
  if (payout.state === 'Completed' || payout.state === 'InProgress') {
    throw problem(400, 'invalid-state', 'The payout is in progress or completed')
  }
  const cancelled: Payout = { ...payout, state: 'Cancelled' }
  deps.ledger.commit(cancelled)
  tell(deps, payoutEvent('PayoutUpdated', cancelled))
}

const approvalSchema = z.object({
  revision: z.int('The `revision` property is required'),
  rateRule: z.string().nullish(),
})

export function approveById(deps: Deps, id: string, body: unknown, now: number): Payout {
  const { revision } = parsed(approvalSchema, body ?? {})
  const payout = payoutOf(deps, id)
  if (revision !== payout.revision) {
    throw problem(400, 'old-revision', 'The payout was changed since then')
  }
  return approve(deps, payout, now)
}

const states = [
  'AwaitingApproval',
  'AwaitingPayment',
  'InProgress',
  'Completed',
  'Cancelled',
] as const
const markSchema = z.object({
  state: z.enum(states).default('Completed'),
  paymentProof: z.record(z.string(), z.unknown()).nullish(),
})

/** Sets the state that an operator notes by hand: sent elsewhere, under way, or still to be sent. */
export function markPayout(deps: Deps, id: string, body: unknown, now: number): void {
  const { state, paymentProof } = parsed(markSchema, body ?? {})
  if (state === 'Cancelled') {
    cancelPayout(deps, id)
    return
  }
  if (paymentProof && typeof paymentProof['proofType'] !== 'string') {
    throw invalid('paymentProof', "Payment proof must have a 'proofType' property")
  }
  const payout = payoutOf(deps, id)
  if (!canMark(payout, state)) {
    throw problem(400, 'invalid-state', `A payout that is ${payout.state} cannot become ${state}`)
  }
  const proof = state === 'AwaitingPayment' ? null : (paymentProof ?? null)
  // The processor's schedule for it no longer holds.
  const { nextAt, ...rest } = payout
  const marked: Payout = { ...rest, state, proof }
  deps.ledger.commit(marked)
  schedulePayout(deps, marked, now)
  tell(deps, payoutEvent('PayoutUpdated', marked))
}

function canMark(payout: Payout, state: (typeof states)[number]): boolean {
  if (payout.state === 'Completed') return false
  if (state === 'AwaitingPayment') return payout.state === 'InProgress'
  if (state === 'AwaitingApproval') return true
  return payout.state === 'AwaitingPayment' || payout.state === 'InProgress'
}
