import { z } from 'zod'
import { isAddress } from './addresses.ts'
import { formatDecimal, parseDecimal, worthDecimals } from './amounts.ts'
import { type CoinFacts, coinOfMethod, coins } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { invalid, parsed, problem } from './errors.ts'
import { payoutEvent } from './events.ts'
import { newId } from './ids.ts'
import { addressIn } from './links.ts'
import type { Payout, PullPayment } from './models.ts'
import { approve } from './payouts.ts'
import { pullPaymentOf } from './pull-payments.ts'

const claimSchema = z.object({
  destination: z.string(),
  amount: z.union([z.string(), z.number()]).nullish(),
  payoutMethodId: z.string().nullish(),
  pullPaymentId: z.string().nullish(),
  approved: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})
type Request = z.infer<typeof claimSchema>

/** Claims a payout from a pull payment, as anyone with its link may. */
export function claim(deps: Deps, pullPaymentId: string, body: unknown, now: number): Payout {
  const { destination, amount, payoutMethodId } = requestOf(body)
  const asked = { destination, amount, payoutMethodId, pullPaymentId }
  return claimWith(deps, asked, pullPaymentOf(deps, pullPaymentId), now)
}

/** Claims a payout as the store, from a pull payment or without one. */
export function claimOfStore(deps: Deps, body: unknown, now: number): Payout {
  const request = requestOf(body)
  const { pullPaymentId } = request
  return claimWith(deps, request, pullPaymentId ? pullPaymentOf(deps, pullPaymentId) : null, now)
}

function requestOf(body: unknown): Request {
  return parsed(claimSchema, body)
}

function claimWith(deps: Deps, request: Request, pull: PullPayment | null, now: number): Payout {
  const coin = coinOfMethod(request.payoutMethodId ?? '')
  // The real server has no handler for Monero payouts, so it treats the method as unknown.
  if (!coin?.paysOut) throw invalid('payoutMethodId', 'Invalid payment method')
  if (!isAddress(coin.symbol, addressIn(request.destination))) {
    throw invalid('destination', 'The destination is invalid for the payment specified')
  }
  if (pull) checkOpen(pull, coin, now)
  checkNotUnderway(deps, addressIn(request.destination))
  const worth = claimedWorth(deps, request, pull)
  const payout: Payout = {
    type: 'payout',
    id: newId(),
    pullPaymentId: pull?.id ?? null,
    createdAt: now,
    destination: request.destination,
    coin: coin.symbol,
    originalCurrency: pull?.currency ?? coin.symbol,
    originalAmount: formatDecimal(worth, worthDecimals),
    units: null,
    revision: 0,
    state: 'AwaitingApproval',
    proof: null,
    metadata: request.metadata ?? {},
  }
  deps.ledger.commit(payout)
  tell(deps, payoutEvent('PayoutCreated', payout))
  const isApproved = request.approved ?? pull?.autoApproveClaims ?? false
  return isApproved ? approvedByItself(deps, payout, now) : payout
}

/** Approves automatically. For coins that BTCPay's indexer does not support, this works only if a plugin does it. */
function approvedByItself(deps: Deps, payout: Payout, now: number): Payout {
  const { approvals = 'work' } = deps.ledger.settings()
  if (approvals === 'work' || coins[payout.coin].isIndexed) return approve(deps, payout, now)
  if (approvals === 'error') {
    throw problem(500, 'generic-error', 'Value cannot be null. (Parameter left)')
  }
  const cancelled: Payout = { ...payout, state: 'Cancelled' }
  deps.ledger.commit(cancelled)
  return cancelled
}

function checkOpen(pull: PullPayment, coin: CoinFacts, now: number): void {
  if (pull.archived) throw problem(400, 'archived', 'The pull payment has been archived')
  if (pull.expiresAt !== null && pull.expiresAt <= now) {
    throw problem(400, 'expired', 'The pull payment is expired')
  }
  if (pull.startsAt > now) {
    throw problem(400, 'not-started', 'The pull payment has not started yet')
  }
  if (!pull.methods.includes(coin.methodId)) {
    const message = 'This payment method is not supported by the pull payment'
    throw problem(400, 'payment-method-not-supported', message)
  }
}

/** Two simultaneous payouts to one address could not be distinguished on the chain. */
function checkNotUnderway({ ledger }: Deps, address: string): void {
  const underway = ledger
    .all('payout')
    .filter(({ state }) => state !== 'Completed' && state !== 'Cancelled')
  if (underway.some(({ destination }) => addressIn(destination) === address)) {
    throw problem(400, 'duplicate-destination', 'This address is already used for another payout')
  }
}

function claimedWorth(deps: Deps, { amount }: Request, pull: PullPayment | null): bigint {
  const left = pull ? leftOf(deps, pull) : undefined
  const asked = amount === null || amount === undefined ? left : readAmount(amount)
  if (asked === undefined) {
    throw invalid('amount', 'Amount is not specified in destination or payout request')
  }
  if (left !== undefined && asked > left) {
    throw problem(400, 'overdraft', "The payout amount overdraft the pull payment's limit")
  }
  if (asked <= 0n) throw problem(400, 'amount-too-low', 'The requested payout amount is too low')
  return asked
}

function readAmount(amount: string | number): bigint {
  const worth = parseDecimal(String(amount), worthDecimals)
  if (worth === undefined) throw invalid('amount', `"${amount}" is not a decimal number.`)
  return worth
}

function leftOf({ ledger }: Deps, pull: PullPayment): bigint {
  const claimed = ledger
    .all('payout')
    .filter(({ pullPaymentId, state }) => pullPaymentId === pull.id && state !== 'Cancelled')
  return claimed.reduce(
    (left, { originalAmount }) => left - readAmount(originalAmount),
    readAmount(pull.amount),
  )
}
