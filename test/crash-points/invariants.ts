import {
  isFinished,
  isRefunding,
  type Order,
  type Refunding,
  type State,
} from '../../src/orders/order.ts'
import { historyFaults, wordOf } from '../model/lives.ts'
import { refundWallet } from '../model/payment-method.ts'
import type { SupplierManner } from '../model/suppliers.ts'
import type { World } from './world.ts'

/**
 * The longest delay that one fault may cause: a lease that expires (45 s), a node that restarts or stalls
 * (66 s), the longest pause between two looks (15 s), a call without an answer or one that arrives late
 * (20 s), two sweeps (10 s), and the patience of a request (20 s).
 */
const faultMs = 180_000
/** The time until payment and refund are in safe blocks, including a slow refund. */
const refundMs = 150_000
/** The interval at which a waiting refund is looked at in these runs. */
const sweepMs = 300_000

/** Checks what must hold when nothing is left to do. */
export function checkEnd(world: World): void {
  const lives = Map.groupBy(world.orders.history, ({ id }) => id)
  for (const life of lives.values()) {
    for (const fault of historyFaults(life)) world.complain(fault)
  }
  checkMoney(world)
  const ends = [...lives.values()].flatMap((life) => life.slice(-1))
  // After a payment that is proven to have failed, the same key may be used for another one.
  const alive = ends.filter(({ state }) => state !== 'PAYMENT_FAILED')
  if (alive.length > 1) world.complain('one purchase became several orders')
  for (const order of ends) checkOrder(world, order)
  if (ends.length === 0 && world.landed().length > 0) world.complain('money came for no order')
}

/** At most one payment and one refund, of the same amount and to the payer. */
function checkMoney(world: World): void {
  const { chain, payer, complain } = world
  const landed = world.landed()
  const back = chain.transfers.filter(({ from }) => from === refundWallet)
  const [payment] = landed
  const [refund] = back
  if (landed.length > 1) complain('the buyer paid twice')
  if (back.length > 1) complain('the buyer was paid back twice')
  if (refund && !payment) complain('money went back that never came')
  if (refund && payment && refund.value !== payment.value) complain('another amount went back')
  if (refund && refund.to !== payer) complain('the refund went to somebody else')
  if (world.supplier.purchases.size > 1) complain('the supplier was charged twice')
}

function checkOrder(world: World, order: Order): void {
  const { complain } = world
  if (!isFinished(order)) complain(`the order ended as ${wordOf(order)}`)
  if (isPaid(world, order)) checkPaid(world, order)
  else if (order.state !== 'PAYMENT_FAILED') complain(`${order.state} without a payment`)
  if (isFrozen(world)) return
  checkLoss(world, order)
  checkKind(world, order)
  checkTimes(world, order)
}

/** Whether this order's own payment landed. */
function isPaid(world: World, { payment }: Order): boolean {
  return world.landed().some(({ nonce }) => nonce === payment.nonce)
}

/** The buyer has either goods or a refund, and the record says which. */
function checkPaid({ chain, supplier, complain }: World, order: Order): void {
  const isBack = chain.transfers.some(({ from }) => from === refundWallet)
  const delivered = order.state === 'FULFILLED'
  const saysBack = isRefunding(order) && order.payout?.state === 'CONFIRMED'
  if (order.state === 'PAYMENT_FAILED') complain('a payment was taken for failed')
  if (delivered === isBack) complain(delivered ? 'delivered and paid back' : 'neither of both')
  if (delivered && supplier.charged() !== 1) complain('goods without a purchase')
  if (saysBack !== isBack) complain(`the record says ${wordOf(order)}, the chain does not`)
}

/**
 * Whether a node stood still for hours, or for longer than its lease together with another fault. It may
 * then send its purchase after the store has proven that there is none and has given it up. Only the
 * supplier could refuse it, and it does not know. The buyer's money is safe anyway, so only the loss, the
 * final state and the times are not checked.
 */
function isFrozen({ points }: World): boolean {
  const stalls = points.some(({ outcome }) => outcome.startsWith('stall'))
  return (stalls && points.length > 1) || points.some(({ outcome }) => outcome.startsWith('freeze'))
}

/** Goods that were charged and not delivered are a loss, which the store must record and report. */
function checkLoss({ supplier, reports, complain }: World, order: Order): void {
  if (!isRefunding(order) || supplier.purchases.size === 0) return
  const isLoss = supplier.charged() > 0
  if (isLoss && order.supply.state !== 'LOST') complain(`goods were lost as ${order.supply.state}`)
  if (isLoss && !reports.some(({ name }) => name === 'goods_lost')) complain('a loss was not told')
}

const promised: Readonly<Record<SupplierManner, readonly State[]>> = {
  'at-once': ['FULFILLED'],
  slowly: ['FULFILLED'],
  'shows-late': ['FULFILLED'],
  'loses-first': ['FULFILLED', 'FULFILLMENT_FAILED'],
  'loses-all': ['FULFILLMENT_FAILED'],
  declines: ['FULFILLMENT_FAILED'],
  'fails-later': ['FULFILLMENT_FAILED'],
  'fails-after-expiry': ['EXPIRED'],
  hangs: ['EXPIRED'],
  'delivers-after-expiry': ['EXPIRED'],
  'delivers-after-grace': ['EXPIRED'],
  'accepts-and-hides': ['FULFILLED'],
  'hides-past-expiry': ['EXPIRED'],
  'refuses-repeats': ['FULFILLED'],
  'takes-unseen': ['FULFILLMENT_FAILED'],
  'keeps-returned': ['EXPIRED'],
}

/** One fault only delays: it must not turn a delivery into a refund, or a payment into a failed one. */
function checkKind({ scene, points, complain }: World, { state }: Order): void {
  if (points.length > 1) return
  const comes = ['pays', 'lands-slowly', 'landed-by-other'].includes(scene.payment)
  // The fate of the first payment does not apply to a second one under the same key.
  const another = scene.repeat === 'key-with-new-payment' ? promised[scene.supplier] : []
  const states: readonly State[] = comes ? promised[scene.supplier] : ['PAYMENT_FAILED', ...another]
  if (!states.includes(state)) complain(`${state} instead of ${states}`)
}

function checkTimes(world: World, order: Order): void {
  const { complain, points } = world
  const slack = 60_000 + faultMs * points.length
  const payment = world.landed().find(({ nonce }) => nonce === order.payment.nonce)
  if (!payment || !('paidAt' in order)) return
  const late = (what: string, at: Date, by: number) => {
    if (at.getTime() > by) complain(`${what} ${Math.ceil((at.getTime() - by) / 1_000)} s too late`)
  }
  late('PAID', order.paidAt, payment.at.getTime() + slack)
  late(order.state, order.changedAt, order.deliverBy.getTime() + slack)
  if (isRefunding(order)) late('refunded', confirmedAt(order), refundBy(world, order) + slack)
}

function confirmedAt({ payout }: Refunding): Date {
  return payout?.state === 'CONFIRMED' ? payout.confirmedAt : new Date(Infinity)
}

function refundBy(world: World, order: Refunding): number {
  const { refund, supplier: manner } = world.scene
  if (refund === 'lapses' || refund === 'no-float') return Infinity
  if (order.state === 'FULFILLMENT_FAILED') return order.changedAt.getTime() + refundMs
  const final = manner === 'fails-after-expiry' || manner === 'delivers-after-expiry'
  const waits = final ? 200_000 : world.shop.policy.refundGraceMs
  const sweeps = 1 + world.points.length
  return order.changedAt.getTime() + waits + sweeps * sweepMs + refundMs
}
