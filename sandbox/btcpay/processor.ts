import { coins } from './coins.ts'
import { type Deps, tell } from './deps.ts'
import { problem } from './errors.ts'
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

/** Nothing is sent while the processor is switched off or the wallet holds too little; it looks again. */
function send(deps: Deps, payout: Payout, now: number): Payout | undefined {
  const { processor, wallets = {} } = deps.ledger.settings()
  if (processor && wallets[payout.coin] === 'watch_only') return leftAlone(deps, payout)
  return processor && canPay(deps, payout) ? sent(deps, payout, now) : later(deps, payout, now)
}

/** An operator sends it from the wallet, as can be done with one that the processor left alone. */
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

/** After ten tries without funds it is left alone. */
function later(deps: Deps, payout: Payout, now: number): Payout | undefined {
  const tries = (payout.tries ?? 0) + Number(deps.ledger.settings().processor)
  if (tries >= maxTries) return leftAlone(deps, payout)
  const again = { ...payout, tries, nextAt: now + Math.max(lookAgainMs, deps.settings.payoutMs) }
  deps.ledger.commit(again)
  return again
}

/** For good, and no answer of the interface says so: it stays `AwaitingPayment`. */
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

/** Looks at all that wait, as after a restart or when the processor is switched on again. */
export function resumePayouts(deps: Deps, now: number): void {
  for (const payout of deps.ledger.all('payout')) schedulePayout(deps, payout, now)
}
