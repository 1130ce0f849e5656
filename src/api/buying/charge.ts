/**
 * What is known of the money of one request, for whatever it is answered. A request that brings a
 * payment may repeat one that was charged. So nothing is known of it before its earlier order has
 * been looked for, and whoever refuses it before that cannot say that nothing was charged.
 */
export interface Charge {
  known: 'no' | 'unknown'
  /**
   * It brought a payment that was checked and not found good, or that has an order which it could not
   * show to be its own. It counts like one that was refused.
   */
  showedNothing?: boolean
}

export function chargeOf(bringsPayment: boolean): Charge {
  return { known: bringsPayment ? 'unknown' : 'no' }
}
