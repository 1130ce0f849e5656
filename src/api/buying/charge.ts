/**
 * What is known about the money of one request. A request with a payment may repeat one that was
 * charged, so nothing is known until the store has looked for its earlier order: a refusal before that
 * cannot say that nothing was charged.
 */
export interface Charge {
  known: 'no' | 'unknown'
  /**
   * The payment was checked and not accepted, or its order exists but the caller did not prove that it is theirs.
   * Counts like a refused payment.
   */
  showedNothing?: boolean
}

export function chargeOf(bringsPayment: boolean): Charge {
  return { known: bringsPayment ? 'unknown' : 'no' }
}
