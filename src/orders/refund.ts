import { goods } from '../catalog/kinds.ts'
import { never } from '../lib/errors.ts'
import { Refusal } from '../lib/refusal.ts'
import { addressOf, methodOf } from '../payments/payment.ts'
import { budgetSpent, clientDigest } from './budgets.ts'
import { assure, lookUp, recordCheck, supplierSettlesMs } from './fulfil.ts'
import {
  chargedOf,
  isRefunding,
  type Order,
  payoutStateOf,
  type Refunding,
  type Supply,
  supplierReferenceOf,
  withAcceptance,
  withPayout,
} from './order.ts'
import { type Debt, failedPayout, nextForPayout, type PayoutIn } from './payout.ts'
import type { BudgetRules, OrderStore, Step, StepDeps, StoredClaim } from './ports.ts'
import { intend, moveAside, moveTo, pollDelay, rest, wait } from './workflow.ts'

/** How often late goods are looked for at first, and in the end. */
const slowPollMs = 60_000
const rarestPollMs = 3_600_000
/** The supplier retries for a day (docs/operators/suppliers.md); what has not ended by then is booked as lost. */
const supplyWatchMs = 72 * 3_600_000

export function payBack(deps: StepDeps, order: Refunding): Promise<Step<Refunding>> {
  const { payout } = order
  if (payout === undefined) return whenPaid(deps, order, (current) => awaitSupplier(deps, current))
  switch (payout.state) {
    case 'DUE':
      return whenPaid(deps, order, (current) => refund(deps, current, payout))
    case 'APPROVED':
      return refund(deps, order, payout)
    case 'CONFIRMED':
    case 'FAILED':
      return order.supply.state === 'OPEN' ? watchSupply(deps, order) : Promise.resolve(rest)
    default:
      return never(payout)
  }
}

/** A payment that may still vanish from the chain is watched, and one that vanished is not paid back. */
async function whenPaid<T extends Refunding>(
  deps: StepDeps,
  order: T,
  goOn: (current: T) => Promise<Step<Refunding>>,
): Promise<Step<Refunding>> {
  switch (order.settlement) {
    case 'FINAL':
      return goOn(order)
    case 'SEEN':
      // Only the payout has to wait for that; meanwhile the supplier may give its final word.
      return recordCheck(order, await assure(deps, order), (current) =>
        current.payout ? wait(pollDelay(current.changedAt, deps.now())) : goOn(current),
      )
    case 'LOST': {
      const reason = 'The payment vanished from the chain, so nothing is owed.'
      const fault = { code: 'payment_vanished', reason }
      const duePayout = order.payout?.state === 'DUE' ? order.payout : {}
      return moveTo(withPayout(order, failedPayout(debtOf(deps, order), duePayout, fault)))
    }
    default:
      return never(order.settlement)
  }
}

/**
 * While the supplier may still deliver, nothing is owed. A purchase that it never accepted, and does not show long
 * after the last request, is not waited for; late goods are watched for all the same.
 */
async function awaitSupplier(
  deps: StepDeps,
  order: Extract<Refunding, { refundAt: Date }>,
): Promise<Step<Refunding>> {
  return lookAtSupply(deps, order, (supplyCheck) => {
    const now = deps.now()
    const lastRequestAt = order.askedAgainAt ?? order.askedAt ?? order.changedAt
    const isUnheardOf =
      supplyCheck.purchase === 'absent' &&
      now.getTime() - lastRequestAt.getTime() >= supplierSettlesMs
    if (supplyCheck.purchase === 'ended' || isUnheardOf || now >= order.refundAt) {
      return moveTo(withPayout(supplyCheck.order, { state: 'DUE' }))
    }
    const leftMs = order.refundAt.getTime() - now.getTime()
    return lookAgain(supplyCheck, Math.min(pollDelay(order.paidAt, now), leftMs))
  })
}

function watchSupply(deps: StepDeps, order: Refunding): Promise<Step<Refunding>> {
  const { payout, changedAt } = order
  const since = payout?.state === 'CONFIRMED' ? payout.confirmedAt : changedAt
  return lookAtSupply(deps, order, (supplyCheck) => {
    if (supplyCheck.order.supply.state !== 'OPEN') return moveTo(supplyCheck.order)
    const watchedMs = deps.now().getTime() - since.getTime()
    if (watchedMs < supplyWatchMs) {
      return lookAgain(supplyCheck, Math.min(rarestPollMs, Math.max(slowPollMs, watchedMs / 8)))
    }
    if (supplyCheck.purchase === 'absent') {
      return moveTo({ ...order, supply: { state: 'NONE', unheard: true } })
    }
    deps.report({ name: 'goods_lost', order: order.id })
    return moveTo({ ...supplyCheck.order, supply: { state: 'LOST' } })
  })
}

/** Looks again later. What was seen for the first time is put on record first. */
function lookAgain({ onRecord, order }: SupplyCheck, ms: number): Step<Refunding> {
  return order === onRecord ? wait(ms) : intend(order, async () => wait(ms))
}

/** Pays the one refund of this order. While it is held back, which may take hours, late goods are looked for. */
async function refund(
  deps: StepDeps,
  order: Refunding,
  payout: PayoutIn<'DUE' | 'APPROVED'>,
): Promise<Step<Refunding>> {
  const step = await nextForPayout(deps, debtOf(deps, order), payout)
  if (step.type === 'move') return moveTo(withPayout(order, step.to))
  return step.type === 'held' && order.supply.state === 'OPEN'
    ? lookAtSupply(deps, order, (supplyCheck) => lookAgain(supplyCheck, step.ms))
    : wait(step.ms)
}

function debtOf(deps: StepDeps, { id, payment, receipt, changedAt }: Refunding): Debt {
  return {
    reference: id,
    since: changedAt,
    payee: addressOf(payment),
    sign: () =>
      methodOf(deps.methods, payment).signRefund({ reference: id, payment, since: receipt }),
    report: (name, reason) => deps.report({ name: `refund_${name}`, order: id, reason }),
  }
}

interface SupplyCheck {
  readonly onRecord: Refunding
  readonly order: Refunding
  /** `absent`: it shows nothing, and never said that it took anything. `ended`: it is done, or failed. */
  readonly purchase: 'absent' | 'unknown' | 'ended'
}

type GoOn = (seen: SupplyCheck) => Step<Refunding>

/** Looks late goods up at the supplier, and asks it to take them back. A lookup without a result proves nothing. */
async function lookAtSupply(
  deps: StepDeps,
  order: Refunding,
  goOn: GoOn,
): Promise<Step<Refunding>> {
  const supplierRecord = await lookUp(deps, order)
  const onRecord = order
  switch (supplierRecord.outcome) {
    case 'none':
      return goOn({ onRecord, order, purchase: order.acceptedAt ? 'unknown' : 'absent' })
    case 'unknown':
      return goOn({ onRecord, order, purchase: 'unknown' })
    case 'pending':
      return goOn({ onRecord, order: withAcceptance(order, deps.now()), purchase: 'unknown' })
    case 'declined': {
      const none = { ...withAcceptance(order, deps.now()), supply: { state: 'NONE' } } as const
      return goOn({ onRecord, order: none, purchase: 'ended' })
    }
    case 'done':
    case 'delivered': {
      const { charge } = supplierRecord
      return cancelPurchase(deps, charge ? { ...order, charge } : order, goOn)
    }
    default:
      return never(supplierRecord)
  }
}

/** Puts on record that the goods are asked back, then asks: a repeat may be refused because the first was accepted. */
async function cancelPurchase(
  deps: StepDeps,
  order: Refunding,
  goOn: GoOn,
): Promise<Step<Refunding>> {
  const { supply } = order
  if (supply.state !== 'OPEN') return goOn({ onRecord: order, order, purchase: 'ended' })
  const cancel = async (onRecord: Refunding, isRepeat: boolean) => {
    const newSupply = await sendCancellation(deps, onRecord, isRepeat)
    const after = newSupply === undefined ? onRecord : { ...onRecord, supply: newSupply }
    return goOn({ onRecord, order: after, purchase: 'ended' })
  }
  if (supply.askedBackAt) return cancel(order, true)
  const cancelling: Refunding = {
    ...withAcceptance(order, deps.now()),
    supply: { ...supply, askedBackAt: deps.now() },
  }
  return intend(cancelling, (saved) => cancel(saved, false))
}

async function sendCancellation(
  deps: StepDeps,
  { id, item }: Refunding,
  isRepeat: boolean,
): Promise<Supply | undefined> {
  const supplier = deps.suppliers.at(item.source)
  const cancelled = await supplier.cancel(item.kind, supplierReferenceOf(id), isRepeat)
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

/**
 * The same refund, to the same wallet, which can be paid only once. If another worker moves the order, what it wrote
 * decides. Anybody may claim, so the operator is not told again if it fails as before.
 */
export async function retryRefund(
  orders: Pick<OrderStore, 'move' | 'release'>,
  order: Refunding,
): Promise<Refunding> {
  if (order.payout?.state !== 'FAILED') return order
  const { code, signed } = order.payout
  const due = withPayout(order, { state: 'DUE', knownFault: code, ...(signed && { signed }) })
  const { won, record } = await moveAside(orders, order, due)
  if (!isRefunding(record))
    throw new Error(`${order.id} is ${record.state}, and its refund is gone`)
  return won ? record : retryRefund(orders, record)
}

export function whyNotTried(order: Order | undefined): string | undefined {
  if (!order) return 'there is no such order'
  if (!isRefunding(order)) return `it is ${order.state} and has no refund`
  const { payout } = order
  if (payout?.state !== 'FAILED') return `its refund has not failed; it is ${payoutStateOf(order)}`
  return order.settlement === 'LOST' || payout.code === 'payment_vanished'
    ? 'its payment vanished from the chain, so nothing is owed'
    : undefined
}

/** Its client is the address that it came from, as limits count it. */
export interface RefundClaim extends StoredClaim {
  /** Whether the claimant shows that the order is theirs. */
  readonly isOwn?: (() => Promise<boolean>) | undefined
}

export interface ClaimDeps extends Pick<StepDeps, 'digest' | 'report'> {
  readonly orders: Pick<OrderStore, 'claimRefund' | 'move' | 'release'>
  readonly budgets: BudgetRules
}

/**
 * Refunds start by themselves, so a claim only starts a failed one again, once. Anybody who knows the order may claim:
 * the money goes to its payer. Claims without proof of ownership use up none of the owner's.
 *
 * @throws Refusal `not_refundable` with the rule that says so, `idempotency_conflict`, `budget_spent`
 */
export async function claimRefund(
  deps: ClaimDeps,
  order: Order,
  { isOwn, ...claim }: RefundClaim,
): Promise<Refunding> {
  if (!isRefunding(order)) throw notRefundable(order)
  const storedClaim = { ...claim, client: clientDigest(deps, claim.client) }
  const rules = (await isOwn?.()) ? { ...deps.budgets, order: {} } : deps.budgets
  const use = await deps.orders.claimRefund(order, storedClaim, rules)
  if (typeof use === 'object') throw budgetSpent(deps, use, chargedOf(order))
  if (use === 'other_body') {
    const message = 'This Idempotency-Key was used before with another body.'
    throw new Refusal('idempotency_conflict', message, { charged: chargedOf(order) })
  }
  return use === 'used' ? order : retryRefund(deps.orders, order)
}

export function notRefundable(order: Order): Refusal {
  const rule = goods[order.item.kind].refundRule
  const why =
    order.state === 'FULFILLED'
      ? `It was delivered. ${rule}`
      : `It is ${order.state}: nothing has failed that a refund could make good. ${rule}`
  return new Refusal('not_refundable', `This order is not refundable. ${why}`, {
    charged: chargedOf(order),
    extra: { state: order.state, refund_rule: rule },
  })
}
