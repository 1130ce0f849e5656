import type { Health } from '../health/health.ts'
import { type Held, noFundsCode, type Placed, type Supplier } from '../orders/ports.ts'

/**
 * The same supplier. Where it refuses a purchase for want of funds that is told at once, because the next
 * look at the record, by which other nodes learn of it, is seconds away; so is what it delivered.
 */
export function fundedSupplier(
  supplier: Supplier,
  health: Pick<Health, 'noteFundsRefusal' | 'noteFundsTaken'>,
  now: () => Date,
): Supplier {
  const told = <T extends Placed | Held>(reference: string, answer: T): T => {
    if (answer.outcome === 'declined' && answer.code === noFundsCode) {
      health.noteFundsRefusal({ reference, at: now() })
    }
    if (answer.outcome === 'delivered') health.noteFundsTaken(reference)
    return answer
  }
  return {
    ...supplier,
    place: async (order) => told(order.reference, await supplier.place(order)),
    lookup: async (kind, reference) => told(reference, await supplier.lookup(kind, reference)),
  }
}
