import {
  type Checkout,
  isClosed,
  isInvoiced,
  type Return,
  returnReference,
  worthOf,
} from '../../src/checkouts/checkout.ts'
import { type CheckoutStore, TooManyUnpaid, type UnpaidBound } from '../../src/checkouts/ports.ts'
import type { CheckoutId } from '../../src/lib/ids.ts'
import type { OrderStore } from '../../src/orders/ports.ts'
import type { Coin } from '../../src/payments/coins.ts'
import { requireLawful } from './checkout-rules.ts'
import * as leases from './memory-leases.ts'
import type { MemoryPayoutLimits } from './memory-payout-limits.ts'

interface Row extends leases.Leased {
  checkout: Checkout
  finishedAt: number | undefined
}

/** Checkouts in memory, tested by the same contract as those in PostgreSQL. */
export interface MemoryCheckouts extends CheckoutStore {
  /** Every version of every checkout, the oldest first. */
  readonly history: Checkout[]
  /** Ends the lease of a checkout now. */
  endLease(id: CheckoutId): void
  /** When the next checkout is due; epoch milliseconds, Infinity if none is. */
  nextDue(): number
}

export function memoryCheckouts({
  now,
  orders,
  payoutLimits,
}: {
  readonly now: () => Date
  readonly orders: Pick<OrderStore, 'find'>
  readonly payoutLimits: Pick<MemoryPayoutLimits, 'returns' | 'grants'>
}): MemoryCheckouts {
  const rows = new Map<string, Row>()
  const history: Checkout[] = []
  const clients = new Map<CheckoutId, string>()
  payoutLimits.returns.worth = (id, seq) => {
    const checkout = rows.get(id)?.checkout
    const due = dueIn(checkout, seq)
    if (!checkout || !due || !isInvoiced(checkout)) {
      throw new Error(`payout ${id}-${seq}: nothing is due`)
    }
    return worthOf(checkout, due.units)
  }
  const time = () => now().getTime()
  const all = () => [...rows.values()]
  const find = (test: (checkout: Checkout) => boolean) =>
    all()
      .map(({ checkout }) => checkout)
      .find(test)

  function write(checkout: Checkout): void {
    const finishedAt = isClosed(checkout) ? time() : undefined
    const lease = finishedAt === undefined ? leases.leased(time()) : leases.resting(time())
    rows.set(checkout.id, { checkout, finishedAt, ...lease })
    history.push(checkout)
  }

  function requireOwnInvoice(to: Checkout): void {
    if (!isInvoiced(to)) return
    const other = find(
      (one) => one.id !== to.id && isInvoiced(one) && one.invoice.id === to.invoice.id,
    )
    if (other) throw new Error(`checkout ${to.id}: checkouts_invoice_id_key`)
    const holder = !isClosed(to) && holderOf(to.coin, to.invoice.address)
    if (holder && holder.id !== to.id) {
      throw new Error(`checkout ${to.id}: checkouts_held_address`)
    }
  }

  function holderOf(coin: Coin, address: string): Checkout | undefined {
    const sought = address.toLowerCase()
    return find(
      (one) =>
        isInvoiced(one) &&
        !isClosed(one) &&
        one.coin === coin &&
        one.invoice.address.toLowerCase() === sought,
    )
  }

  function requireRoom({ id, coin }: Checkout, { client, most, states }: UnpaidBound): void {
    const isRefusedNow = ({ checkout, finishedAt = 0 }: Row) =>
      checkout.state === 'REFUSED' && time() - finishedAt < 3_600_000
    const unpaid = all()
      .filter((row) => isRefusedNow(row) || isUnpaid(row.checkout, states))
      .filter(({ checkout: one }) => clients.get(one.id) === client && one.coin === coin).length
    if (unpaid >= most) throw new TooManyUnpaid(unpaid)
    clients.set(id, client)
  }

  return {
    history,

    async open(checkout, bound) {
      const { formKeyHash, orderId, id } = checkout
      const same =
        find((one) => one.formKeyHash === formKeyHash && one.state !== 'REFUSED') ??
        rows.get(id)?.checkout
      if (same) return { isNew: false, checkout: same }
      if (find((one) => one.orderId === orderId)) {
        throw new Error(`checkout ${id}: checkouts_order_id_key`)
      }
      if (bound) requireRoom(checkout, bound)
      write(checkout)
      return { isNew: true, checkout }
    },

    async move(from, to) {
      if (to.id !== from.id) throw new Error(`Checkout ${from.id} cannot become ${to.id}`)
      // The only await comes first: the rest is atomic, like a single statement.
      const order = await orders.find(from.orderId)
      const row = rows.get(from.id)
      if (!row) throw new Error(`Checkout ${from.id} was never opened`)
      if (row.checkout.version !== from.version) return { won: false, record: row.checkout }
      requireLawful(row.checkout, to, {
        isGranted: (seq) => payoutLimits.grants.has(returnReference(from.id, seq)),
        hasOrder: order !== undefined,
      })
      requireOwnInvoice(to)
      const checkout = { ...to, version: from.version + 1 }
      write(checkout)
      return { won: true, record: checkout }
    },

    async release(checkout, againInMs) {
      const row = rows.get(checkout.id)
      if (row?.checkout.version === checkout.version) leases.release(row, time(), againInMs)
    },

    async hasten(invoice) {
      const row = all().find(
        ({ checkout }) => isInvoiced(checkout) && checkout.invoice.id === invoice,
      )
      if (row) leases.hasten(row, time())
    },

    claimDue: async (limit) =>
      leases.claimDue(all(), time(), limit).map(({ checkout }) => checkout),

    endLease(id) {
      const row = rows.get(id)
      if (row) row.lockedUntil = time()
    },

    nextDue: () => leases.nextDue(all()),

    find: async (id) => rows.get(id)?.checkout,
    findByOrder: async (id) => find(({ orderId }) => orderId === id),
    findByTransaction: async (hash) =>
      all()
        .map(({ checkout }) => checkout)
        .filter((one) => transactionsOf(one).includes(hash.toLowerCase()))
        .sort((one, other) => one.startedAt.getTime() - other.startedAt.getTime())[0],

    findByAddress: async (address) =>
      find((one) => isInvoiced(one) && one.invoice.address.toLowerCase() === address.toLowerCase()),

    holderOf: async (coin, address) => holderOf(coin, address),

    async erasePersonal(endedBefore) {
      const ended = all().filter(
        ({ checkout, finishedAt }) =>
          checkout.recipient !== undefined && (finishedAt ?? Infinity) < endedBefore.getTime(),
      )
      for (const row of ended) row.checkout = erased(row.checkout)
      return ended.length
    },

    async forgetNeverPaid(endedBefore) {
      const before = Math.min(endedBefore.getTime(), time() - 90 * 86_400_000)
      const gone = all().filter(
        ({ checkout, finishedAt }) => (finishedAt ?? Infinity) < before && wasNeverPaid(checkout),
      )
      for (const { checkout } of gone) rows.delete(checkout.id)
      return gone.length
    },
  }
}

function wasNeverPaid(checkout: Checkout): boolean {
  if (checkout.state === 'REFUSED') return true
  return checkout.state === 'ENDED' && checkout.invoice.payments.length === 0
}

function isUnpaid(checkout: Checkout, states: UnpaidBound['states']): boolean {
  if (isClosed(checkout) || !states.includes(checkout.state)) return false
  return !isInvoiced(checkout) || !['PROCESSING', 'SETTLED'].includes(checkout.invoice.status)
}

function transactionsOf(checkout: Checkout): readonly string[] {
  if (!isInvoiced(checkout)) return []
  return checkout.invoice.payments.map(({ transaction }) => transaction.toLowerCase())
}

function dueIn(checkout: Checkout | undefined, seq: number): Return | undefined {
  if (!checkout || !isInvoiced(checkout)) return undefined
  return checkout.returns.find((one) => one.seq === seq && one.payout.state === 'DUE')
}

/** Keeps an address that money went to, or that an order is refunded to, because it documents the payment. */
function erased(checkout: Checkout): Checkout {
  const isUsed =
    checkout.state === 'ORDERED' || (isInvoiced(checkout) && checkout.returns.length > 0)
  return {
    ...checkout,
    version: checkout.version + 1,
    recipient: undefined,
    refundTo: isUsed ? checkout.refundTo : '',
  }
}
