import {
  balancesOf,
  isFinished,
  isRefunding,
  type Order,
  type Refunding,
  supplierReferenceOf,
} from '../../src/orders/order.ts'
import { wordOf } from '../model/lives.ts'
import { refundWallet } from '../model/payment-method.ts'
import type { World } from './world.ts'

/**
 * The longest that a buyer may wait for goods or a refund: the deadline, the grace, all faults, the rounds of
 * the operator until the caps are wide, and an hour for the hourly cap to free.
 */
const wholeWithinMs = 4 * 3_600_000

/** Checks what must hold when nothing is left to do. */
export async function checkEnd(world: World, isQuiet: boolean): Promise<void> {
  if (world.violations.length > 0) return
  if (!isQuiet) {
    const open = world.orders().filter((order) => !isFinished(order))
    for (const order of open) world.complain(`the order ended as ${wordOf(order)}`, order.id)
    if (open.length === 0) world.complain('a buyer never got an answer or an event')
    return
  }
  for (const order of world.orders()) checkOrder(world, order)
  checkCharges(world)
  checkSums(world)
  await world.receivers.checkEnd()
}

function checkOrder(world: World, order: Order): void {
  const { chain, supplier } = world
  const reference = supplierReferenceOf(order.id)
  const isPaid = chain.transfers.some(({ nonce }) => nonce === order.payment.nonce)
  const isOwed = 'settlement' in order && order.settlement !== 'LOST'
  if (isPaid !== isOwed) world.complain(`the chain does not say ${wordOf(order)}`, order.id)
  if (order.state === 'FULFILLED' && !supplier.isCharged(reference)) {
    world.complain('goods without a purchase', order.id)
  }
  if (isRefunding(order)) checkRefund(world, order)
  if (isOwed) checkTime(world, order)
  if ('settlement' in order && order.settlement === 'LOST') checkTold(world, order, 'payment_lost')
}

function checkRefund(world: World, order: Refunding): void {
  const { payout, settlement, supply } = order
  const isEnd =
    payout?.state === 'CONFIRMED' || (payout?.state === 'FAILED' && settlement === 'LOST')
  if (!isEnd) world.complain(`the order ended as ${wordOf(order)}`, order.id)
  const isLoss = world.supplier.isCharged(supplierReferenceOf(order.id))
  // With clocks that are minutes apart, one node may give up what another has just begun.
  const mayGoUnnoticed = world.scenario.clocks === 'wild' || world.witness.overtaken.has(order.id)
  if (isLoss && supply.state !== 'LOST' && !mayGoUnnoticed) {
    world.complain(`goods were lost as ${supply.state}`, order.id)
  }
  if (supply.state === 'LOST') checkTold(world, order, 'goods_lost')
}

function checkTold({ reports, complain }: World, { id }: Order, wanted: string): void {
  if (!reports.some((told) => told.name === wanted && 'order' in told && told.order === id)) {
    complain(`nobody was told of ${wanted}`, id)
  }
}

function checkTime(world: World, order: Order): void {
  const wholeAt =
    isRefunding(order) && order.payout?.state === 'CONFIRMED'
      ? order.payout.confirmedAt
      : order.changedAt
  const late = wholeAt.getTime() - world.witness.openedAt(order.id) - wholeWithinMs
  if (late > 0) world.complain(`made whole ${Math.ceil(late / 1_000)} s too late`, order.id)
}

/** Each buyer means one purchase, and was charged for one, however often it signed and asked. */
function checkCharges(world: World): void {
  for (const [buyer, all] of Map.groupBy(world.orders(), ({ id }) => world.book.ofOrder(id))) {
    const orders = all.filter((order) => isCharged(order, buyer?.key))
    // With clocks that are minutes apart, the store may take the first purchase for an old one.
    const mayBeTwo = buyer?.key === undefined && world.scenario.clocks === 'wild'
    if (orders.length > 1 && !mayBeTwo) {
      world.complain('one purchase was charged twice', orders[0]?.id)
    }
  }
}

/** Without a key, what is paid back may be bought again. */
function isCharged(order: Order, key: string | undefined): boolean {
  if (order.state === 'PAYMENT_FAILED' || (key === undefined && isRefunding(order))) return false
  return !('settlement' in order && order.settlement === 'LOST')
}

/** The ledger of all orders must equal the transfers on the chain. */
function checkSums(world: World): void {
  const { chain, shop } = world
  const sums = { received: 0n, open: 0n, delivered: 0n, refunded: 0n }
  for (const order of world.orders()) {
    for (const { account, amount } of balancesOf(order)) sums[account] += amount
  }
  const sumOf = (of: readonly { value: bigint }[]) => of.reduce((sum, { value }) => sum + value, 0n)
  const came = sumOf(chain.transfers.filter(({ to }) => to === shop.payee.payTo))
  const went = sumOf(chain.transfers.filter(({ from }) => from === refundWallet))
  if (sums.received !== came)
    world.complain(`the ledger received ${sums.received}, the wallet ${came}`)
  if (-sums.refunded !== went)
    world.complain(`the ledger refunded ${-sums.refunded}, the wallet ${went}`)
  if (sums.open !== 0n) world.complain(`the ledger has ${-sums.open} open at the end`)
}
