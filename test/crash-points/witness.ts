import { isRefunding, type Order, supplierReferenceOf } from '../../src/orders/order.ts'
import type { SupplierOrder } from '../../src/suppliers/supplier.ts'
import type { MemoryOrders } from '../doubles/memory-orders.ts'
import { onChain } from '../doubles/orders.ts'
import type { Chain, Transfer } from '../model/chain.ts'
import type { Clock } from '../model/clock.ts'
import type { RailWitness } from '../model/payment-method.ts'
import type { ModelSupplier } from '../model/supplier.ts'
import type { Point } from './faults.ts'

interface Witnessed {
  readonly clock: Clock
  readonly orders: MemoryOrders
  readonly chain: Chain
  readonly supplier: ModelSupplier
  readonly landed: () => readonly Transfer[]
  readonly points: readonly Point[]
  readonly complain: (what: string) => void
}

/** Checks every external effect at the moment at which it happens. */
export function modelWitness(
  seen: Witnessed,
): RailWitness & { placing(order: SupplierOrder): void } {
  const { clock, orders, chain, landed, complain } = seen
  const onRecord = (test: (order: Order) => boolean) => orders.history.some(test)
  let refundNonce: string | undefined

  return {
    placing({ reference }) {
      const isAsking = (order: Order) =>
        order.state === 'FULFILLING' && supplierReferenceOf(order.id) === reference
      if (!onRecord(isAsking)) complain('the supplier was asked before that was on record')
      if (landed().length === 0) complain('the supplier was asked without a payment')
    },

    collecting({ nonce }) {
      const isOpen = onRecord(({ payment }) => payment.nonce === nonce)
      if (!isOpen) complain('money was sent for before that was on record')
    },

    signing({ nonce }) {
      refundNonce ??= nonce
      if (nonce !== refundNonce) complain('one order has two refund nonces')
    },

    payingBack({ signature }) {
      if (!onRecord((order) => signatureOf(order) === signature)) {
        complain('a refund was sent before it was on record')
      }
      if (!landed().every(({ block }) => chain.isSafe(block))) {
        complain('a refund was sent for money that may still vanish')
      }
      if (isKnownToDeliver(seen) && clock.now().getTime() < waitsUntil(seen)) {
        complain('a refund was sent while the supplier might still deliver')
      }
    },
  }
}

/** Whether the store knows, or would learn now, that goods may still come. */
function isKnownToDeliver({ supplier, orders }: Witnessed): boolean {
  return orders.history.some((order) => {
    const reference = supplierReferenceOf(order.id)
    const isAccepted = 'acceptedAt' in order && order.acceptedAt !== undefined
    return supplier.mayDeliver(reference) && (isAccepted || supplier.isShown(reference))
  })
}

function signatureOf(order: Order): string | undefined {
  return isRefunding(order) && order.payout?.state === 'APPROVED'
    ? onChain(order.payout.signed).signature
    : undefined
}

/**
 * Until when a refund waits for the supplier; Infinity if the order did not expire. 0 if a node stood still,
 * because it may have sent its purchase after the store gave it up.
 */
function waitsUntil({ orders, points }: Witnessed): number {
  if (points.some(({ outcome }) => /^(freeze|stall)/.test(outcome))) return 0
  const [refundAt] = orders.history
    .filter(isRefunding)
    .flatMap(({ refundAt }) => (refundAt ? [refundAt.getTime()] : []))
  return refundAt ?? Infinity
}
