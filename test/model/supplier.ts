import type { Delivery, Kind } from '../../src/catalog/offer.ts'
import type { Held, Placed, Supplier, SupplierOrder } from '../../src/suppliers/supplier.ts'
import type { Clock } from './clock.ts'

/**
 * How the supplier treats a purchase. Times count from when it has received the purchase.
 *
 * It may be slow, silent and out of date. Some lies are not included, because no store can survive them:
 * reporting a purchase as failed and delivering and charging it later, charging twice for one reference,
 * and taking back goods without returning their price. Only the contract with it protects against those.
 */
export interface Manner {
  /** The number of first requests that never arrive. */
  readonly lost?: number
  /** The number of first answers that never arrive. */
  readonly lostAnswers?: number
  readonly declines?: true
  /** Refuses a repeated request while a look-up does not show its purchase. */
  readonly refusesRepeats?: true
  /** How long a look-up does not show the purchase. */
  readonly hiddenMs?: number
  /** The largest age of the state in a look-up. */
  readonly staleMs?: number
  /** When the purchase ends; never if undefined. */
  readonly endsAfterMs?: number
  readonly fails?: true
  /** Accepts a return of goods, and later refuses it. */
  readonly keepsReturned?: true
}

export interface Purchase {
  readonly kind: Kind
  readonly at: number
  /** When its return was requested. */
  returnAskedAt?: number
  returned: boolean
}

const returnTakesMs = 20_000
const no = { outcome: 'declined', code: 'NO', reason: 'no' } as const

export type ModelSupplier = ReturnType<typeof modelSupplier>

export interface SupplierWorld {
  readonly clock: Clock
  readonly mannerOf: (reference: string) => Manner
  /** Called for every request before it has an effect. */
  readonly witness: (order: SupplierOrder) => void
  /** The share of `staleMs` that a look-up is out of date, from 0 to 1. */
  readonly staleness?: (reference: string) => number
  /** Called for every purchase that is made. */
  readonly onPurchase?: (reference: string) => void
}

/** A supplier that accepts each reference once, and charges the store's wallet once for it. */
export function modelSupplier(world: SupplierWorld) {
  const { clock, mannerOf, witness, staleness = () => 0, onPurchase = () => {} } = world
  const purchases = new Map<string, Purchase>()
  const requests = new Map<string, number>()
  const ageOf = ({ at }: Purchase) => clock.now().getTime() - at
  const isEnded = (reference: string, ageMs: number) =>
    ageMs >= (mannerOf(reference).endsAfterMs ?? Infinity)

  function heldOf(reference: string): Held {
    const purchase = purchases.get(reference)
    const { hiddenMs = 0, staleMs = 0, fails } = mannerOf(reference)
    if (!purchase || ageOf(purchase) < hiddenMs) return { outcome: 'none' }
    const ageMs = ageOf(purchase) - staleMs * staleness(reference)
    if (ageMs < 0) return { outcome: 'none' }
    if (!isEnded(reference, ageMs)) return { outcome: 'pending' }
    if (fails) return { outcome: 'declined', code: 'FAILED', reason: 'failed' }
    return { outcome: 'delivered', delivery: deliveryOf(purchase.kind, reference) }
  }

  function isCharged([reference, purchase]: [string, Purchase]): boolean {
    const { fails } = mannerOf(reference)
    return !purchase.returned && !(fails && isEnded(reference, ageOf(purchase)))
  }

  function bought(kind: Kind, reference: string): Placed {
    if (mannerOf(reference).declines) return no
    purchases.set(reference, { kind, at: clock.now().getTime(), returned: false })
    onPurchase(reference)
    return { outcome: 'held' }
  }

  function repeated(reference: string): Placed {
    const isShown = heldOf(reference).outcome !== 'none'
    return isShown || !mannerOf(reference).refusesRepeats ? { outcome: 'held' } : no
  }

  const port: Supplier = {
    async place(order) {
      witness(order)
      const { reference, kind } = order
      const manner = mannerOf(reference)
      const nth = (requests.get(reference) ?? 0) + 1
      requests.set(reference, nth)
      if (nth <= (manner.lost ?? 0)) return { outcome: 'unknown', reason: 'no answer' }
      const answer = purchases.has(reference) ? repeated(reference) : bought(kind, reference)
      const isLost = nth <= (manner.lostAnswers ?? 0)
      return isLost ? { outcome: 'unknown', reason: 'no answer' } : answer
    },

    lookup: async (_, reference) => heldOf(reference),

    async cancel(kind, reference) {
      const purchase = purchases.get(reference)
      if (kind !== 'esim' || !purchase) return { outcome: 'refused', reason: 'not this kind' }
      const now = clock.now().getTime()
      purchase.returnAskedAt ??= now
      if (now - purchase.returnAskedAt < returnTakesMs) return { outcome: 'pending' }
      if (mannerOf(reference).keepsReturned) return { outcome: 'refused', reason: 'it failed' }
      purchase.returned = true
      return { outcome: 'cancelled' }
    },

    knowsIccid: async () => 'yes',
  }

  return {
    port,
    purchases,
    /** The number of purchases that were charged and whose price was not returned. */
    charged: () => [...purchases].filter(isCharged).length,
    /** Whether this purchase was charged and its price was not returned. */
    isCharged: (reference: string) =>
      [...purchases].some((entry) => {
        return entry[0] === reference && isCharged(entry)
      }),
    /** Whether a look-up would show this purchase. */
    isShown: (reference: string) => heldOf(reference).outcome !== 'none',
    /** Whether this purchase is open, so that it may still be delivered. */
    mayDeliver(reference: string) {
      const purchase = purchases.get(reference)
      return purchase !== undefined && !isEnded(reference, ageOf(purchase))
    },
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
