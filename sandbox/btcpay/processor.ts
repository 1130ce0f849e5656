import { coins } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { payoutEvent } from './events.ts'
import { nextTransaction } from './ids.ts'
import { addressIn } from './links.ts'
import type { ChainTransaction, Payout } from './models.ts'

/**
 * The automatic processor, as the real server has one for each coin: it sends what is approved, notes
 * the transaction as the proof, and the payout is complete when the chain has confirmed it.
 */
export function schedulePayout(deps: Deps, payout: Payout, now: number): void {
  const { id, state, nextAt, tries = 0 } = payout
  if (tries >= triesMost) return
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

/** Nothing is sent while the processor is switched off or the wallet holds too little; it looks again. */
function send(deps: Deps, payout: Payout, now: number): Payout | undefined {
  const units = BigInt(payout.units ?? 0)
  const { fee } = coins[payout.coin]
  const isAble = deps.ledger.settings().processor && deps.ledger.balance(payout.coin) >= units + fee
  if (!isAble) return later(deps, payout, now)
  const id = nextTransaction(deps, payout.coin)
  const transaction: ChainTransaction = {
    type: 'transaction',
    id,
    coin: payout.coin,
    direction: 'out',
    units: String(units),
    fee: String(fee),
    address: addressIn(payout.destination),
    at: now,
    subject: payout.id,
  }
  const proof = {
    proofType: 'PayoutTransactionOnChainBlob',
    transactionId: id,
    candidates: [id],
    accounted: true,
  }
  const nextAt = now + deps.settings.confirmMs
  const sent: Payout = { ...payout, state: 'InProgress', proof, nextAt }
  deps.ledger.commit(transaction, sent)
  tell(deps, payoutEvent('PayoutUpdated', sent))
  return sent
}

const triesMost = 10

/** After ten tries without funds it is left alone for good, and no answer of the interface says so. */
function later(deps: Deps, { nextAt: _, ...payout }: Payout, now: number): Payout | undefined {
  const tries = (payout.tries ?? 0) + Number(deps.ledger.settings().processor)
  if (tries >= triesMost) {
    deps.ledger.commit({ ...payout, tries })
    return undefined
  }
  const again = { ...payout, tries, nextAt: now + Math.max(lookAgainMs, deps.settings.payoutMs) }
  deps.ledger.commit(again)
  return again
}

function conclude(deps: Deps, payout: Payout): undefined {
  if (payout.state !== 'InProgress' || payout.nextAt === undefined) return
  const { nextAt, ...rest } = payout
  const done: Payout = { ...rest, state: 'Completed' }
  deps.ledger.commit(done)
  tell(deps, payoutEvent('PayoutUpdated', done))
}

/** Looks at all that wait, as after a restart or when the processor is switched on again. */
export function resumePayouts(deps: Deps, now: number): void {
  for (const payout of deps.ledger.all('payout')) schedulePayout(deps, payout, now)
}
