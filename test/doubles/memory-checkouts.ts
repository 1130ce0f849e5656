import {
  type Checkout,
  type Invoice,
  isClosed,
  isInvoiced,
  type Return,
  returnReference,
  worthOf,
} from '../../src/checkouts/checkout.ts'
import type { CheckoutStore } from '../../src/checkouts/ports.ts'
import type { CheckoutId } from '../../src/lib/ids.ts'
import type { OrderStore } from '../../src/orders/ports.ts'
import type { Coin } from '../../src/payments/coins.ts'
import { requireLawful } from './checkout-rules.ts'
import * as leases from './memory-leases.ts'
import type { MemoryPayoutLimits } from './memory-payout-limits.ts'

interface Row extends leases.Leased {
  checkout: Checkout
}

/** Checkouts in memory. */
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
    const lease = isClosed(checkout) ? leases.resting(time()) : leases.leased(time())
    rows.set(checkout.id, { checkout, ...lease })
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
    return find(
      (one) =>
        isInvoiced(one) && !isClosed(one) && one.coin === coin && hasAddress(one.invoice, address),
    )
  }

  return {
    history,

    async open(checkout) {
      const { formKeyHash, orderId, id } = checkout
      const same =
        find((one) => one.formKeyHash === formKeyHash && one.state !== 'REFUSED') ??
        rows.get(id)?.checkout
      if (same) return { isNew: false, checkout: same }
      if (find((one) => one.orderId === orderId)) {
        throw new Error(`checkout ${id}: checkouts_order_id_key`)
      }
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
      find((one) => isInvoiced(one) && hasAddress(one.invoice, address)),

    holderOf: async (coin, address) => holderOf(coin, address),

    erasePersonal: async () => 0,
    forgetNeverPaid: async () => 0,
  }
}

function hasAddress({ addresses }: Invoice, sought: string): boolean {
  return addresses.some((address) => address.toLowerCase() === sought.toLowerCase())
}

function transactionsOf(checkout: Checkout): readonly string[] {
  if (!isInvoiced(checkout)) return []
  return checkout.invoice.payments.map(({ transaction }) => transaction.toLowerCase())
}

function dueIn(checkout: Checkout | undefined, seq: number): Return | undefined {
  if (!checkout || !isInvoiced(checkout)) return undefined
  return checkout.returns.find((one) => one.seq === seq && one.payout.state === 'DUE')
}
