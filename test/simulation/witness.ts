import { refundNonceOf } from '../../src/adapters/chain/refunds.ts'
import type { OrderId } from '../../src/lib/ids.ts'
import { budgetWindowMs } from '../../src/orders/budgets.ts'
import {
  balancesOf,
  chargedOf,
  entriesOf,
  isRefunding,
  type Order,
  type Settlement,
  supplierReferenceOf,
} from '../../src/orders/order.ts'
import type { OrderStore } from '../../src/orders/ports.ts'
import { leaseMs } from '../../src/orders/workflow.ts'
import type { Payment, X402Refund } from '../../src/payments/payment.ts'
import type { SupplierOrder } from '../../src/suppliers/supplier.ts'
import type { MemoryOrders } from '../doubles/memory-orders.ts'
import type { MemoryPayoutLimits } from '../doubles/memory-payout-limits.ts'
import { noBudgets, onChain } from '../doubles/orders.ts'
import { fixtureNow } from '../fixtures/offers.ts'
import type { Chain, Mined, Transfer } from '../model/chain.ts'
import { stepFault } from '../model/lives.ts'
import { ofPayment, refundWallet } from '../model/payment-method.ts'
import { prices, type Shop } from '../model/shop.ts'
import type { ModelSupplier } from '../model/supplier.ts'
import { type BuyerBook, limited } from './buyer-book.ts'
import type { Caller } from './process.ts'
import { nearSkewMs, type Scenario } from './scenario.ts'
import type { Scheduler } from './scheduler.ts'
import { faultsIn } from './trace.ts'

export interface Witnessed {
  readonly time: Scheduler
  readonly shop: Shop
  readonly memory: MemoryOrders
  readonly chain: Chain
  readonly supplier: ModelSupplier
  readonly payoutLimits: MemoryPayoutLimits
  readonly book: BuyerBook
  readonly acting: () => Caller | undefined
  readonly complain: (what: string, order?: OrderId) => void
  readonly scenario: Scenario
}

/** A process may send what it decided before its pause for this long after the pause. */
const overtakenWithinMs = leaseMs + 60_000
const chainId = 84_532
/** When the supplier changes its prices. A price that was told before is kept for five minutes, and slack. */
export const pricesChangeMs = 150_000
/** The budgets of a scenario with tight caps. */
export const tightBudgets = { ...noBudgets, payer: { failed_orders: 2 } }

/** Checks every effect at the moment at which it happens. */
export function newWitness(seen: Witnessed) {
  const { time, shop, chain, supplier, payoutLimits, acting, complain } = seen
  const current = new Map<OrderId, Order>()
  const byNonce = new Map<string, Order>()
  const byRefundNonce = new Map<string, OrderId>()
  const signatures = new Map<string, OrderId>()
  const landed = new Set<string>()
  const overtaken = new Set<OrderId>()
  /** Orders that were given up while neither the record nor the supplier showed a purchase. */
  const unheardOf = new Set<OrderId>()
  const told = new Map<string, Caller>()
  const openedAt = new Map<OrderId, number>()
  const ledger = new Map<OrderId, Map<string, bigint>>()

  const latestOf = (order: Order | undefined) => order && current.get(order.id)
  const orderOf = (reference: string) =>
    [...current.values()].find(({ id }) => reference.startsWith(supplierReferenceOf(id)))

  function record(order: Order, by: Caller | undefined): void {
    const before = current.get(order.id)
    const faults = [
      stepFault(before, order) ?? [],
      guardFaults(before, order),
      beliefFaults(order),
      forgottenFaults(order, by),
      before ? [] : openingFaults(order),
    ]
    for (const what of faults.flat()) complain(what, order.id)
    noteGivingUp(before, order)
    current.set(order.id, order)
    byNonce.set(order.payment.nonce, order)
    if (!before) {
      openedAt.set(order.id, time.time())
      byRefundNonce.set(refundNonceOf(chainId, order.id), order.id)
    }
    const signed = signedOf(order)
    if (signed) signatures.set(signed.signature, order.id)
    keepBooks(before, order)
  }

  /**
   * Notes an order that is given up without a known acceptance: the process that learned of it may have died,
   * or its write was lost. A purchase that the supplier shows only later does not hold the refund back.
   */
  function noteGivingUp(before: Order | undefined, order: Order): void {
    if (order.state !== 'FULFILLMENT_FAILED' || before?.state === order.state) return
    const isKnown = acceptedAtOf(order) !== undefined
    if (!isKnown && !supplier.isShown(supplierReferenceOf(order.id))) unheardOf.add(order.id)
  }

  /** Whether it was opened at a price that its buyer was told, and within limit and budget. */
  function openingFaults({ item, payment, amount, placedAt }: Order): string[] {
    const past = time.time() - fixtureNow.getTime() - pricesChangeMs
    const keptMs = seen.scenario.clocks === 'wild' ? 1_200_000 : 600_000
    const inForce = [
      ...(past < keptMs ? prices.slice(0, 1) : []),
      ...(past > 0 ? prices.slice(1) : []),
    ]
    const theirs = [...current.values()].filter((one) => one.payment.payer === payment.payer)
    const spent = theirs.filter(isSpent).reduce((sum, one) => sum + one.amount, amount as bigint)
    const failed = theirs.filter(
      (one) => isRefunding(one) && placedAt.getTime() - one.placedAt.getTime() < budgetWindowMs,
    )
    const most = seen.scenario.caps === 'tight' ? tightBudgets.payer.failed_orders : undefined
    return faultsIn([
      [
        !inForce.some((one) => one[item.offerId] === amount),
        'an order has a price that nobody was told',
      ],
      [
        payment.payer === limited.wallet && spent > limited.perDay,
        'a wallet spent above its limit',
      ],
      [most !== undefined && failed.length >= most, 'a payer bought again after too many failures'],
    ])
  }

  /** Violations that the database also refuses. */
  function guardFaults(before: Order | undefined, order: Order): string[] {
    const [was, is] = [settlementOf(before), settlementOf(order)]
    const isChanged = (was === 'FINAL' || was === 'LOST') && is !== was
    const signed = signedOf(order)
    const isGranted = payoutLimits.grants.has(order.id)
    const { payment, amount } = order
    return faultsIn([
      [isChanged, `its payment was ${was}, for good`],
      [signed && !isGranted, 'its refund was not granted'],
      [signed && signed.to !== payment.payer, 'its refund goes to somebody else'],
      [signed && signed.amount !== amount, 'its refund is of another amount'],
      [
        signed && grantedWithinHour() > payoutLimits.rules.hour,
        'refunds exceed the cap of an hour',
      ],
    ])
  }

  const grantedWithinHour = () =>
    [...payoutLimits.grants.values()]
      .filter(({ at }) => at > time.time() - 3_600_000)
      .reduce((sum, grant) => sum + grant.amount, 0n)

  /** A caller that learns that the supplier accepted a purchase must write that before anything else. */
  function forgottenFaults(order: Order, by: Caller | undefined): string[] {
    const isTold = by !== undefined && told.get(supplierReferenceOf(order.id)) === by
    const isForgotten = isTold && acceptedAtOf(order) === undefined
    return faultsIn([[isForgotten, 'what the supplier accepted was forgotten']])
  }

  /** Violations where the record differs from the outside at this moment. */
  function beliefFaults(order: Order): string[] {
    if (order.state === 'PAYMENT_PENDING') return []
    const isDead = chain.judge(ofPayment(onChain(order.payment))).verdict === 'dead'
    if (order.state === 'PAYMENT_FAILED') {
      return faultsIn([[!isDead, 'a payment failed that may still come']])
    }
    const isBought = supplier.isCharged(supplierReferenceOf(order.id))
    return faultsIn([
      [!landed.has(order.payment.nonce), `${order.state} for money that never came`],
      [
        order.settlement === 'FINAL' && !isFinal(order),
        'a payment was taken for final that is not',
      ],
      [order.settlement === 'LOST' && !isDead, 'a payment was given up that may come'],
      [order.state === 'FULFILLED' && !isBought, 'goods that nobody bought were delivered'],
      [saysRefunded(order) && !isRefunded(order), 'a refund was taken for paid that is not'],
    ])
  }

  const isFinal = ({ payment }: Order) =>
    chain.transfers.some(({ nonce, block }) => nonce === payment.nonce && chain.isSafe(block))

  const isRefunded = ({ id }: Order) => refundsOf(id).some(({ block }) => chain.isSafe(block))

  const refundsOf = (id: OrderId) =>
    chain.transfers.filter(
      ({ from, nonce }) => from === refundWallet && byRefundNonce.get(nonce) === id,
    )

  function keepBooks(before: Order | undefined, order: Order): void {
    const sums = ledger.get(order.id) ?? new Map<string, bigint>()
    ledger.set(order.id, sums)
    for (const { account, amount } of entriesOf(before, order)) {
      sums.set(account, (sums.get(account) ?? 0n) + amount)
    }
    const booked = [...sums].filter(([, amount]) => amount !== 0n)
    const due = balancesOf(order).map(({ account, amount }) => [account, amount])
    if (JSON.stringify(booked.sort(), text) !== JSON.stringify(due.sort(), text)) {
      complain('the ledger does not say what the order says', order.id)
    }
  }

  function landing(transfer: Transfer): void {
    if (transfer.to === shop.payee.payTo) landingPayment(transfer)
    if (transfer.from === refundWallet) landingRefund(transfer)
  }

  function landingPayment({ nonce }: Transfer): void {
    landed.add(nonce)
    const order = latestOf(byNonce.get(nonce))
    if (!order) complain('money came for no order')
    else if (chargedOf(order) === 'no')
      complain('a payment came that was proven never to come', order.id)
  }

  function landingRefund({ nonce, to, value }: Transfer): void {
    const id = byRefundNonce.get(nonce)
    const order = id && current.get(id)
    if (!order) complain('money went back for no order')
    else for (const what of wrongsOf(order, to, value)) complain(what, order.id)
  }

  function wrongsOf(order: Order, to: string, value: bigint): string[] {
    return faultsIn([
      [!isRefunding(order), `money went back for an order that is ${order.state}`],
      [to !== order.payment.payer, 'a refund went to somebody else'],
      [value !== order.amount, 'a refund was of another amount'],
      [refundsOf(order.id).length > 1, 'a refund was paid twice'],
      [!isFinal(order), 'money went back that may vanish or never came'],
    ])
  }

  /** Why the refund of this order must not be sent now. */
  function refundingFaults(order: Order): string[] {
    const isStopped = payoutLimits.rules.stoppedAt < time.time() - overtakenWithinMs
    const slackMs = seen.scenario.clocks === 'wild' ? Infinity : 2 * nearSkewMs
    const isEarly = refundAtOf(seen, order) - time.time() > slackMs
    const reference = supplierReferenceOf(order.id)
    // An order that was given up without a known purchase is refunded, even if the purchase shows up before.
    const isLate = unheardOf.has(order.id) || overtaken.has(order.id)
    const isKnown = acceptedAtOf(order) !== undefined || supplier.isShown(reference)
    const isOpen = isKnown && supplier.mayDeliver(reference) && !isLate
    return faultsIn([
      [settlementOf(order) !== 'FINAL', 'a refund was sent for money that may vanish'],
      [isStopped && !isOvertaken(), 'a refund was sent although refunds are stopped'],
      [isOpen && isEarly, 'a refund was sent while the supplier might still deliver'],
    ])
  }

  /** Whether the acting caller may have decided before a pause in which it lost the order. */
  function isOvertaken(): boolean {
    const caller = acting()
    const paused = caller ? time.time() - caller.process.lastPausedUntil : Infinity
    return paused < overtakenWithinMs || seen.scenario.clocks === 'wild'
  }

  return {
    /** The current version of every order on record. */
    current: current as ReadonlyMap<OrderId, Order>,
    /** Orders whose purchase reached the supplier after the store had given it up. */
    overtaken: overtaken as ReadonlySet<OrderId>,
    /** When the order was opened; epoch milliseconds. */
    openedAt: (id: OrderId) => openedAt.get(id) ?? Infinity,

    placing({ reference }: SupplierOrder) {
      const order = orderOf(reference)
      if (!order) complain('the supplier was asked for no order')
      else if (!('askedAt' in order))
        complain('the supplier was asked before that was on record', order.id)
    },

    /** Called when a caller learns that the supplier has accepted a purchase. */
    told: (reference: string, caller: Caller) => void told.set(reference, caller),

    /** Called for every purchase that the supplier has just made. */
    purchased(reference: string) {
      const order = orderOf(reference)
      if (!order) return
      const all = [...supplier.purchases.keys()].filter((other) => orderOf(other)?.id === order.id)
      if (all.length > 1) complain('one order has two purchases at the supplier', order.id)
      if (order.state === 'FULFILLING') return
      overtaken.add(order.id)
      if (!isOvertaken())
        complain(`a purchase was made for an order that is ${order.state}`, order.id)
    },

    collecting({ nonce }: Payment) {
      if (!byNonce.has(nonce)) complain('money was sent for before that was on record')
    },

    signing({ nonce, to, amount }: X402Refund) {
      const id = byRefundNonce.get(nonce)
      const order = id && current.get(id)
      if (!order) return complain('a refund was signed with a nonce of no order')
      if (to !== order.payment.payer || amount !== order.amount) {
        complain('a refund was signed for somebody else or another amount', order.id)
      }
    },

    payingBack({ signature }: X402Refund) {
      const id = signatures.get(signature)
      const order = id && current.get(id)
      if (!order) complain('a refund was sent before it was on record')
      else for (const what of refundingFaults(order)) complain(what, order.id)
    },

    mined({ transfer, act }: Mined) {
      if (transfer) landing(transfer)
      else if (act.type === 'transfer') complain('a transfer left no trace')
    },

    /** Wraps a store to compare every write with the outside. */
    watch: (store: OrderStore, written: () => void): OrderStore => ({
      ...store,
      async open(order, keys, recipient) {
        const by = acting()
        const opened = await store.open(order, keys, recipient)
        if (opened.isNew) record(opened.order, by)
        written()
        return opened
      },
      async move(from, to) {
        const by = acting()
        const moved = await store.move(from, to)
        if (moved.won) record(moved.record, by)
        written()
        return moved
      },
    }),
  }
}

function acceptedAtOf(order: Order): Date | undefined {
  return 'acceptedAt' in order ? order.acceptedAt : undefined
}

function settlementOf(order: Order | undefined): Settlement | undefined {
  return order && 'settlement' in order ? order.settlement : undefined
}

function isSpent(order: Order): boolean {
  return order.state !== 'PAYMENT_FAILED' && settlementOf(order) !== 'LOST' && !saysRefunded(order)
}

function saysRefunded(order: Order): boolean {
  return isRefunding(order) && order.payout?.state === 'CONFIRMED'
}

function signedOf(order: Order): X402Refund | undefined {
  return isRefunding(order) && order.payout?.state === 'APPROVED'
    ? onChain(order.payout.signed)
    : undefined
}

/** Until when the refund of this order waits for the supplier; Infinity if it did not expire. */
function refundAtOf({ memory }: Witnessed, { id }: Order): number {
  const waiting = memory.history.find(
    (order) => order.id === id && isRefunding(order) && order.refundAt !== undefined,
  )
  return waiting && isRefunding(waiting) && waiting.refundAt !== undefined
    ? waiting.refundAt.getTime()
    : Infinity
}

function text(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
