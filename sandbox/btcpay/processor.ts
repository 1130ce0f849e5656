import { coins } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { problem } from './errors.ts'
import { payoutEvent } from './events.ts'
import { nextTransaction } from './ids.ts'
import { addressIn } from './links.ts'
import type { ChainTransaction, Payout } from './models.ts'

/**
 * The automatic processor; the real server has one for each coin. It sends approved payouts, stores the transaction as
 * the proof, and completes the payout when the chain has confirmed it.
 */
export function schedulePayout(deps: Deps, payout: Payout, now: number): void {
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
  const { processor, wallets = {} } = deps.ledger.settings()
  if (processor && wallets[payout.coin] === 'watch_only') return leftAlone(deps, payout)
  return processor && canPay(deps, payout) ? sent(deps, payout, now) : later(deps, payout, now)
}

/** Sends a payout from the wallet by hand, as an operator can when the processor has given up. */
export function sendByHand(deps: Deps, payout: Payout, now: number): Payout {
  if (payout.state !== 'AwaitingPayment' || !canPay(deps, payout)) {
    throw problem(
      400,
      'invalid-state',
      'It does not wait to be sent, or the wallet cannot send it.',
    )
  }
  const { tries: _, ...rest } = payout
  const gone = sent(deps, rest, now)
  schedulePayout(deps, gone, now)
  return gone
}

function canPay({ ledger }: Deps, { coin, units }: Payout): boolean {
  const isHot = ledger.settings().wallets?.[coin] === undefined
  return isHot && ledger.balance(coin) >= BigInt(units ?? 0) + coins[coin].fee
}

function sent(deps: Deps, payout: Payout, now: number): Payout {
  const { fee } = coins[payout.coin]
  const id = nextTransaction(deps, payout.coin)
  const transaction: ChainTransaction = {
    type: 'transaction',
    id,
    coin: payout.coin,
    direction: 'out',
    units: payout.units ?? '0',
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
  const gone: Payout = { ...payout, state: 'InProgress', proof, nextAt }
  deps.ledger.commit(transaction, gone)
  tell(deps, payoutEvent('PayoutUpdated', gone))
  return gone
}

const maxTries = 10

/** Schedules another try; after ten tries without funds the processor gives up. */
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
  tell(deps, payoutEvent('PayoutUpdated', done))
}

/** Resumes all waiting payouts, after a restart or when the processor is switched on again. */
export function resumePayouts(deps: Deps, now: number): void {
  for (const payout of deps.ledger.all('payout')) schedulePayout(deps, payout, now)
}
