import type { Delivery } from '../../src/goods/good.ts'
import type { Kind } from '../../src/goods/offer.ts'
import type { Held, Supplier, SupplierOrder } from '../../src/orders/ports.ts'
import type { Clock } from './clock.ts'

/** How the supplier treats a purchase. Times are from the moment it has the purchase. */
interface Manner {
  /** So many of the first requests never arrive. */
  readonly lost?: number
  readonly declines?: true
  /** Not shown by a look-up for so long. */
  readonly hiddenMs?: number
  /** When the purchase ends, and how; never where it is not given. */
  readonly endsAfterMs?: number
  readonly fails?: true
}

export const suppliers = {
  'at-once': { endsAfterMs: 0 },
  slowly: { endsAfterMs: 90_000 },
  'shows-late': { hiddenMs: 8_000, endsAfterMs: 4_000 },
  'loses-first': { lost: 1, endsAfterMs: 0 },
  'loses-all': { lost: Infinity },
  declines: { declines: true },
  'fails-later': { endsAfterMs: 40_000, fails: true },
  'fails-after-expiry': { endsAfterMs: 800_000, fails: true },
  hangs: {},
  'delivers-after-expiry': { endsAfterMs: 700_000 },
  'delivers-after-grace': { endsAfterMs: 7 * 3_600_000 },
} as const satisfies Record<string, Manner>
export type SupplierManner = keyof typeof suppliers

interface Purchase {
  readonly kind: Kind
  readonly at: number
  returned: boolean
}

export type ModelSupplier = ReturnType<typeof modelSupplier>

/** A supplier that takes a reference once, and charges its wallet once for it. */
export function modelSupplier(
  clock: Clock,
  name: SupplierManner,
  witness: (order: SupplierOrder) => void,
) {
  const manner: Manner = suppliers[name]
  const purchases = new Map<string, Purchase>()
  let requests = 0
  const ageOf = ({ at }: Purchase) => clock.now().getTime() - at
  const ended = (purchase: Purchase) => ageOf(purchase) >= (manner.endsAfterMs ?? Infinity)

  function heldOf(reference: string): Held {
    const purchase = purchases.get(reference)
    if (!purchase || ageOf(purchase) < (manner.hiddenMs ?? 0)) return { outcome: 'none' }
    if (!ended(purchase)) return { outcome: 'pending' }
    if (manner.fails) return { outcome: 'declined', code: 'FAILED', reason: 'failed' }
    return { outcome: 'delivered', delivery: deliveryOf(purchase.kind, reference) }
  }

  const port: Supplier = {
    placeWithinMs: 60_000,

    async place(order) {
      witness(order)
      requests += 1
      if (requests <= (manner.lost ?? 0)) return { outcome: 'unknown', reason: 'no answer' }
      if (purchases.has(order.reference)) return { outcome: 'held' }
      if (manner.declines) return { outcome: 'declined', code: 'NO_STOCK', reason: 'none left' }
      const at = clock.now().getTime()
      purchases.set(order.reference, { kind: order.kind, at, returned: false })
      return { outcome: 'held' }
    },

    lookup: async (_, reference) => heldOf(reference),

    async cancel(kind, reference) {
      const purchase = purchases.get(reference)
      if (kind !== 'esim' || !purchase) return { outcome: 'refused', reason: 'not this kind' }
      purchase.returned = true
      return { outcome: 'cancelled' }
    },

    knowsIccid: async () => 'yes',
  }

  return {
    port,
    purchases,
    /** Purchases that were paid for and that the supplier did not make good. */
    charged: () =>
      [...purchases.values()].filter(
        (purchase) => !purchase.returned && !(manner.fails && ended(purchase)),
      ).length,
    /** Whether a purchase is open, so that goods may still come. */
    mayDeliver: () => [...purchases.values()].some((purchase) => !ended(purchase)),
  }
}

export function deliveryOf(kind: Kind, reference: string): Delivery {
  switch (kind) {
    case 'voucher':
      return { kind, code: `CODE-${reference}` }
    case 'topup':
      return { kind, confirmationNumber: `OK-${reference}` }
    case 'esim':
      return { kind, iccid: '8944500000000000017', activationCode: `LPA:1$host$${reference}` }
  }
}
