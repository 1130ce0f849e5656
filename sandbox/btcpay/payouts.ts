import * as z from 'zod'
import { digest, isAddress } from './addresses.ts'
import { formatDecimal, parseDecimal, worthDecimals } from './amounts.ts'
import { type CoinFacts, coinOfMethod, coins, isTicker, symbols } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { invalid, notFound, parsed, problem } from './errors.ts'
import { newId, nextTransaction } from './ledger.ts'
import type { ChainTransaction, Payout, PullPayment } from './models.ts'
import { addressIn } from './views.ts'

const pullSchema = z.object({
  name: z.string().max(50, 'The name should be maximum 50 characters.').nullish(),
  description: z.string().nullish(),
  amount: z.union([z.string(), z.number()]),
  currency: z.string(),
  autoApproveClaims: z.boolean().nullish(),
  payoutMethods: z.array(z.string()).nullish(),
})

export const payoutMethods = symbols
  .map((symbol) => coins[symbol])
  .filter(({ paysOut }) => paysOut)
  .map(({ methodId }) => methodId)

export function createPullPayment(deps: Deps, body: unknown): PullPayment {
  const request = parsed(pullSchema, body)
  const worth = parseDecimal(String(request.amount), worthDecimals)
  if (worth === undefined || worth <= 0n) throw invalid('amount', 'The amount should more than 0.')
  const currency = request.currency.trim().toUpperCase()
  if (!isTicker(currency)) throw invalid('currency', 'The sandbox pays out in coins only.')
  const pull: PullPayment = {
    ...{ type: 'pull-payment', id: newId(), archived: false },
    name: request.name ?? null,
    description: request.description ?? null,
    ...{ currency, amount: formatDecimal(worth, worthDecimals) },
    autoApproveClaims: request.autoApproveClaims ?? false,
    methods: methodsOf(request.payoutMethods),
  }
  deps.ledger.commit(pull)
  return pull
}

function methodsOf(wanted: readonly string[] | null | undefined): readonly string[] {
  const unknown = wanted?.findIndex((method) => !coinOfMethod(method)?.paysOut) ?? -1
  if (unknown < 0) return wanted ?? payoutMethods
  throw invalid(`payoutMethods[${unknown}]`, 'Invalid or unsupported payment method')
}

export function pullPaymentOf({ ledger }: Deps, id: string): PullPayment {
  const pull = ledger.find('pull-payment', id)
  if (!pull) throw notFound('pullpayment')
  return pull
}

/** Archives a pull payment: it accepts no more claims, and payouts that were not sent yet are cancelled. */
export function archivePullPayment(deps: Deps, id: string): void {
  const pull = pullPaymentOf(deps, id)
  deps.ledger.commit({ ...pull, archived: true })
  for (const payout of deps.ledger.all('payout')) {
    const isOpen = payout.state === 'AwaitingApproval' || payout.state === 'AwaitingPayment'
    if (payout.pullPaymentId !== id || !isOpen) continue
    const cancelled: Payout = { ...payout, state: 'Cancelled' }
    deps.ledger.commit(cancelled)
    tellOf(deps, 'PayoutUpdated', cancelled)
  }
}

const claimSchema = z.object({
  destination: z.string(),
  amount: z.union([z.string(), z.number()]).nullish(),
  payoutMethodId: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
})
type ClaimRequest = z.infer<typeof claimSchema>

/** Claims a payout from a pull payment, as anyone with its link may. */
export function claim(deps: Deps, pullPaymentId: string, body: unknown, now: number): Payout {
  const request = parsed(claimSchema, body)
  const pull = pullPaymentOf(deps, pullPaymentId)
  const coin = coinOfMethod(request.payoutMethodId ?? '')
  // The real server has no handler for Monero payouts, so it treats the method as unknown.
  if (!coin?.paysOut) throw invalid('payoutMethodId', 'Invalid payment method')
  if (!isAddress(coin.symbol, addressIn(request.destination))) {
    throw invalid('destination', 'The destination is invalid for the payment specified')
  }
  checkOpen(pull, coin)
  checkNotUnderway(deps, addressIn(request.destination))
  const worth = claimedWorth(deps, request, pull)
  const payout: Payout = {
    type: 'payout',
    id: newId(),
    pullPaymentId: pull.id,
    createdAt: now,
    destination: request.destination,
    coin: coin.symbol,
    originalCurrency: pull.currency,
    originalAmount: formatDecimal(worth, worthDecimals),
    units: null,
    state: 'AwaitingApproval',
    proof: null,
    metadata: request.metadata ?? {},
  }
  deps.ledger.commit(payout)
  tellOf(deps, 'PayoutCreated', payout)
  return pull.autoApproveClaims ? approve(deps, payout, now) : payout
}

function checkOpen(pull: PullPayment, coin: CoinFacts): void {
  if (pull.archived) throw problem(400, 'archived', 'The pull payment has been archived')
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

function claimedWorth(deps: Deps, { amount }: ClaimRequest, pull: PullPayment): bigint {
  const left = leftOf(deps, pull)
  const worth = amount === null || amount === undefined ? left : readAmount(amount)
  if (worth > left) {
    throw problem(400, 'overdraft', "The payout amount overdraft the pull payment's limit")
  }
  if (worth <= 0n) throw problem(400, 'amount-too-low', 'The requested payout amount is too low')
  return worth
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

export function payoutOf({ ledger }: Deps, id: string): Payout {
  const payout = ledger.find('payout', id)
  if (!payout) throw notFound('payout')
  return payout
}

/** Fixes the amount in the coin; after that the processor may send it. */
function approve(deps: Deps, payout: Payout, now: number): Payout {
  const units = parseDecimal(payout.originalAmount, coins[payout.coin].decimals) ?? 0n
  const coin = coins[payout.coin]
  if (units < coin.dust) {
    deps.ledger.commit({ ...payout, state: 'Cancelled' })
    throw problem(400, 'amount-too-low', 'The crypto amount is too small.')
  }
  const nextAt = now + deps.settings.payoutMs
  const approved: Payout = { ...payout, state: 'AwaitingPayment', units: String(units), nextAt }
  deps.ledger.commit(approved)
  tellOf(deps, 'PayoutApproved', approved)
  schedulePayout(deps, approved, now)
  return approved
}

function tellOf(
  deps: Deps,
  type: 'PayoutCreated' | 'PayoutApproved' | 'PayoutUpdated',
  { id: payoutId, pullPaymentId, state: payoutState }: Payout,
): void {
  tell(deps, { type, payoutId, pullPaymentId, payoutState })
}

/**
 * The automatic processor; the real server has one for each coin. It sends approved payouts, stores the transaction as
 * the proof, and completes the payout when the chain has confirmed it.
 */
function schedulePayout(deps: Deps, payout: Payout, now: number): void {
  const { id, state, nextAt, tries = 0 } = payout
  if (tries >= maxTries) return
  const isWaiting = state === 'AwaitingPayment' || (state === 'InProgress' && nextAt !== undefined)
  if (!isWaiting) return
  deps.timers.set(`payout ${id}`, (nextAt ?? now) - now, () => {
    const current = deps.ledger.find('payout', id)
    if (current) work(deps, current, Date.now())
  })
}

const lookAgainMs = 50

function work(deps: Deps, payout: Payout, now: number): void {
  const next = payout.state === 'AwaitingPayment' ? send(deps, payout, now) : conclude(deps, payout)
  if (next) schedulePayout(deps, next, now)
}

/** Sends a payout. While the processor is off or the wallet holds too little, nothing is sent and it tries again. */
function send(deps: Deps, payout: Payout, now: number): Payout | undefined {
  const { processor, watchOnly = [] } = deps.ledger.settings()
  if (processor && watchOnly.includes(payout.coin)) return leftAlone(deps, payout)
  return processor && canPay(deps, payout) ? sent(deps, payout, now) : later(deps, payout, now)
}

/** Sends a payout from the wallet by hand, as an operator can when the processor has given up. */
export function sendByHand(deps: Deps, payout: Payout, now: number): Payout {
  if (payout.state !== 'AwaitingPayment' || !canPay(deps, payout)) {
    throw problem(400, 'invalid-state', 'It does not wait, or the wallet cannot send it.')
  }
  const { tries: _, ...rest } = payout
  const gone = sent(deps, rest, now)
  schedulePayout(deps, gone, now)
  return gone
}

function canPay({ ledger }: Deps, { coin, units }: Payout): boolean {
  const isHot = !ledger.settings().watchOnly?.includes(coin)
  return isHot && ledger.balance(coin) >= BigInt(units ?? 0) + coins[coin].fee
}

function sent(deps: Deps, payout: Payout, now: number): Payout {
  if (deps.ledger.settings().refused) return refused(deps, payout)
  const { fee } = coins[payout.coin]
  const id = nextTransaction(deps.ledger, deps.settings.seed, payout.coin)
  const transaction: ChainTransaction = {
    ...{ type: 'transaction', id, coin: payout.coin, direction: 'out', at: now },
    ...{ units: payout.units ?? '0', fee: String(fee), subject: payout.id },
    address: addressIn(payout.destination),
  }
  const nextAt = now + deps.settings.confirmMs
  const gone: Payout = { ...payout, state: 'InProgress', proof: proofOf(id), nextAt }
  deps.ledger.commit(transaction, gone)
  tellOf(deps, 'PayoutUpdated', gone)
  return gone
}

function proofOf(id: string) {
  const proofType = 'PayoutTransactionOnChainBlob'
  return { proofType, transactionId: id, candidates: [id], accounted: true }
}

/** The server calls a payout sent before its transaction is, and never looks again if the nodes refuse it. */
function refused(deps: Deps, { nextAt: _, ...payout }: Payout): Payout {
  const id = digest(deps.settings.seed, 'refused', payout.id).toString('hex')
  const stuck: Payout = { ...payout, state: 'InProgress', proof: proofOf(id) }
  deps.ledger.commit(stuck)
  tellOf(deps, 'PayoutUpdated', stuck)
  return stuck
}

const maxTries = 10

function later(deps: Deps, payout: Payout, now: number): Payout | undefined {
  const tries = (payout.tries ?? 0) + Number(deps.ledger.settings().processor)
  if (tries >= maxTries) return leftAlone(deps, payout)
  const again = { ...payout, tries, nextAt: now + Math.max(lookAgainMs, deps.settings.payoutMs) }
  deps.ledger.commit(again)
  return again
}

/** Gives up for good. The API does not show it: the payout stays `AwaitingPayment`. */
function leftAlone(deps: Deps, { nextAt: _, ...payout }: Payout): undefined {
  deps.ledger.commit({ ...payout, tries: maxTries })
}

function conclude(deps: Deps, payout: Payout): undefined {
  if (payout.state !== 'InProgress' || payout.nextAt === undefined) return
  const { nextAt, ...rest } = payout
  const done: Payout = { ...rest, state: 'Completed' }
  deps.ledger.commit(done)
  tellOf(deps, 'PayoutUpdated', done)
}

/** Resumes all waiting payouts, after a restart or when the processor is switched on again. */
export function resumePayouts(deps: Deps, now: number): void {
  for (const payout of deps.ledger.all('payout')) schedulePayout(deps, payout, now)
}
