import type { Health } from '../health/health.ts'
import { type Held, noFundsCode, type Placed, type Supplier } from '../suppliers/supplier.ts'

/**
 * Wraps a supplier so that refusals for insufficient funds and deliveries reach `health` at once. Other
 * nodes learn of them from the database, seconds later.
 */
export function fundedSupplier(
  name: string,
  supplier: Supplier,
  health: Pick<Health, 'noteFundsRefusal' | 'noteFundsTaken'>,
  now: () => Date,
): Supplier {
  const noted = <T extends Placed | Held>(reference: string, answer: T): T => {
    if (answer.outcome === 'declined' && answer.code === noFundsCode) {
      health.noteFundsRefusal(name, { reference, at: now() })
    }
    if (answer.outcome === 'delivered') health.noteFundsTaken(name, reference)
    return answer
  }
  return {
    ...supplier,
    place: async (order) => noted(order.reference, await supplier.place(order)),
    lookup: async (kind, reference) => noted(reference, await supplier.lookup(kind, reference)),
  }
}
