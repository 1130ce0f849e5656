import { never } from '../lib/never.ts'
import { payBackFaults } from '../payments/pay-back-faults.ts'
import { railOf } from '../payments/ports.ts'
import type { Refund, Refunding, Supply } from './order.ts'
import { acceptedOrder, paidBackOrder, supplierReferenceOf } from './order.ts'
import type { Held } from './ports.ts'
import { assure } from './settlement.ts'
import {
  intend,
  moveTo,
  pollDelay,
  rest,
  type Step,
  type StepDeps,
  supplierSettlesMs,
  wait,
} from './steps.ts'

/** Every reason why a refund waits for an operator: those of the rail, and two of our own. */
export const refundFaults = [...payBackFaults, 'over_cap', 'payment_vanished'] as const

/** How often an order is looked at when only time or a slow supplier can change it. */
const slowPollMs = 60_000
const rarestPollMs = 3_600_000
/**
 * How long after a refund late goods are watched for. What the supplier took and has not ended by then
 * is booked as lost; it retries for a day (docs/suppliers.md).
 */
const supplyWatchMs = 72 * 3_600_000

/** The next thing to do for an order whose money goes back. */
export function payBack(deps: StepDeps, order: Refunding): Promise<Step<Refunding>> {
  const { refund } = order
  switch (refund.step) {
    case 'WAITING':
      return whenPaid(deps, order, () => awaitSupplier(deps, order, refund))
    case 'DUE':
      return whenPaid(deps, order, () => sign(deps, order))
    case 'SIGNED':
      return send(deps, order, refund)
    case 'REFUNDED':
    case 'FAILED':
      return order.supply.state === 'OPEN' ? watchSupply(deps, order) : Promise.resolve(rest)
    default:
      return never(refund)
  }
}

/** Money that may still vanish from the chain is watched, and money that did is not paid back. */
async function whenPaid(
  deps: StepDeps,
  order: Refunding,
  goOn: () => Promise<Step<Refunding>>,
): Promise<Step<Refunding>> {
  switch (order.settlement) {
    case 'FINAL':
      return goOn()
    case 'SEEN': {
      const assured = await assure(deps, order)
      if (assured) return moveTo({ ...order, ...assured })
      // Only signing has to wait for it; the supplier's word may come meanwhile.
      return order.refund.step === 'WAITING' ? goOn() : wait(pollDelay(order.changedAt, deps.now()))
    }
    case 'LOST': {
      const reason = 'The payment vanished from the chain, so nothing is owed.'
      return moveTo(blocked(deps, order, 'payment_vanished', reason))
    }
    default:
      return never(order.settlement)
  }
}

/**
 * While the supplier may still deliver, nothing is signed: its final word, yes or no, ends the
 * waiting, and so does the end of the grace. What it never said it took, and does not show long after
 * the last request, is not waited for; late goods are watched for all the same.
 */
async function awaitSupplier(
  deps: StepDeps,
  order: Refunding,
  refund: Extract<Refund, { step: 'WAITING' }>,
): Promise<Step<Refunding>> {
  return lookAtSupply(deps, order, (seen) => {
    const now = deps.now()
    const asked = order.askedAgainAt ?? order.askedAt ?? order.changedAt
    const isUnheardOf =
      seen.purchase === 'absent' && now.getTime() - asked.getTime() >= supplierSettlesMs
    if (seen.purchase === 'ended' || isUnheardOf || now >= refund.signAt) {
      return moveTo({ ...seen.order, refund: { step: 'DUE' } })
    }
    const leftMs = refund.signAt.getTime() - now.getTime()
    return again(seen, Math.min(pollDelay(order.paidAt, now), leftMs))
  })
}

/** Goods that come after the buyer's money went back, or its way back failed, are to be returned or booked. */
function watchSupply(deps: StepDeps, order: Refunding): Promise<Step<Refunding>> {
  const { refund } = order
  const since = refund.step === 'REFUNDED' ? refund.refundedAt : order.changedAt
  return lookAtSupply(deps, order, (seen) => {
    if (seen.order.supply.state !== 'OPEN') return moveTo(seen.order)
    const watchedMs = deps.now().getTime() - since.getTime()
    if (watchedMs < supplyWatchMs) {
      return again(seen, Math.min(rarestPollMs, Math.max(slowPollMs, watchedMs / 8)))
    }
    if (seen.purchase === 'absent') {
      return moveTo({ ...order, supply: { state: 'NONE', unheard: true } })
    }
    deps.report({ name: 'goods_lost', order: order.id })
    return moveTo({ ...seen.order, supply: { state: 'LOST' } })
  })
}

/** Looks again later, once it is on record what was seen for the first time. */
function again({ onRecord, order }: Seen, ms: number): Step<Refunding> {
  return order === onRecord ? wait(ms) : intend(order, async () => wait(ms))
}

/** Signs the one refund of this order, once the payout limits allow it. */
async function sign(deps: StepDeps, order: Refunding): Promise<Step<Refunding>> {
  const held = await heldBack(deps, order)
  if (held) return held
  const signed = await railOf(deps.rails, order.tender).signRefund({
    order: order.id,
    tender: order.tender,
    since: order.receipt,
  })
  const onRecord: Refunding = { ...order, refund: { step: 'SIGNED', signed, ...known(order) } }
  return intend(onRecord, (saved) => payBack(deps, saved))
}

/** What the payout limits say against paying this refund now, or undefined when they say nothing. */
async function heldBack(deps: StepDeps, order: Refunding): Promise<Step<Refunding> | undefined> {
  const answer = await deps.payoutLimits.allow(order.id)
  switch (answer) {
    case 'granted':
      return undefined
    case 'over_cap':
      return moveTo(
        blocked(deps, order, 'over_cap', 'The refund is above the cap for all refunds.'),
      )
    case 'stopped':
    case 'hour_cap':
    case 'day_cap':
    case 'payer_share':
      deps.report({ name: 'refund_held', order: order.id, reason: answer })
      // A refund may be held for hours, and late goods are looked for meanwhile.
      return order.supply.state === 'OPEN'
        ? lookAtSupply(deps, order, (seen) => again(seen, slowPollMs))
        : wait(slowPollMs)
    default:
      return never(answer)
  }
}

async function send(
  deps: StepDeps,
  order: Refunding,
  { signed }: Extract<Refund, { step: 'SIGNED' }>,
): Promise<Step<Refunding>> {
  const held = await heldBack(deps, order)
  if (held) return held
  const paid = await railOf(deps.rails, signed).payBack(signed)
  const now = deps.now()
  switch (paid.outcome) {
    case 'paid':
      return moveTo(paidBackOrder(order, { transaction: paid.transaction, refundedAt: now }))
    case 'pending':
      return wait(pollDelay(order.changedAt, now))
    case 'lapsed':
      return moveTo({ ...order, refund: { step: 'DUE', ...known(order) } })
    case 'blocked':
      return moveTo(blocked(deps, order, paid.code, paid.reason))
    default:
      return never(paid)
  }
}

/** A refund that goes on only after an operator acted: no retry would change anything. */
function blocked(deps: StepDeps, order: Refunding, code: string, reason: string): Refunding {
  if (known(order).knownFault !== code) {
    deps.report({ name: 'refund_failed', order: order.id, reason: code })
  }
  return { ...order, refund: { step: 'FAILED', code, reason } }
}

function known({ refund }: Refunding): { readonly knownFault?: string } {
  return 'knownFault' in refund ? { knownFault: refund.knownFault } : {}
}

/** The order with what the supplier shows now of goods that the buyer will not get. */
interface Seen {
  readonly onRecord: Refunding
  readonly order: Refunding
  /** `absent`: it shows nothing, and never said that it took anything. `ended`: it is done, or failed. */
  readonly purchase: 'absent' | 'unknown' | 'ended'
}

type GoOn = (seen: Seen) => Step<Refunding>

/** Late goods are given back. Only the supplier's own word ends the watch: its silence never does. */
async function lookAtSupply(
  deps: StepDeps,
  order: Refunding,
  goOn: GoOn,
): Promise<Step<Refunding>> {
  const reference = supplierReferenceOf(order.id)
  const held: Held = await deps.supplier.lookup(order.item.kind, reference)
  const onRecord = order
  switch (held.outcome) {
    case 'none':
      return goOn({ onRecord, order, purchase: order.acceptedAt ? 'unknown' : 'absent' })
    case 'unknown':
      return goOn({ onRecord, order, purchase: 'unknown' })
    case 'pending':
      return goOn({ onRecord, order: accepted(deps, order), purchase: 'unknown' })
    case 'declined': {
      const none = { ...accepted(deps, order), supply: { state: 'NONE' } } as const
      return goOn({ onRecord, order: none, purchase: 'ended' })
    }
    case 'done':
    case 'delivered':
      return askBack(deps, order, goOn)
    default:
      return never(held)
  }
}

function accepted(deps: StepDeps, order: Refunding): Refunding {
  return acceptedOrder(order, deps.now()) ?? order
}

/** Puts on record that the goods are asked back, then asks: a second refusal may only repeat a first yes. */
async function askBack(deps: StepDeps, order: Refunding, goOn: GoOn): Promise<Step<Refunding>> {
  const { supply } = order
  if (supply.state !== 'OPEN') return goOn({ onRecord: order, order, purchase: 'ended' })
  const ask = async (onRecord: Refunding, isRepeat: boolean) => {
    const given = await giveBack(deps, onRecord, isRepeat)
    const after = given === undefined ? onRecord : { ...onRecord, supply: given }
    return goOn({ onRecord, order: after, purchase: 'ended' })
  }
  if (supply.askedBackAt) return ask(order, true)
  const asking = { ...accepted(deps, order), supply: { ...supply, askedBackAt: deps.now() } }
  return intend<Refunding>(asking, (saved) => ask(saved, false))
}

/** What has become of the goods, or undefined while that is not known. */
async function giveBack(
  deps: StepDeps,
  { id, item }: Refunding,
  isRepeat: boolean,
): Promise<Supply | undefined> {
  const cancelled = await deps.supplier.cancel(item.kind, supplierReferenceOf(id), isRepeat)
  switch (cancelled.outcome) {
    case 'cancelled':
      deps.report({ name: 'goods_returned', order: id })
      return { state: 'RETURNED' }
    case 'refused':
      deps.report({ name: 'goods_lost', order: id })
      return { state: 'LOST' }
    case 'pending':
    case 'unknown':
      return undefined
    default:
      return never(cancelled)
  }
}
