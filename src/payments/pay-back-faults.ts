/** Why a rail cannot pay a refund until an operator does something (docs/operators/treasury.md). */
export const payBackFaults = [
  'no_float',
  'no_gas',
  'token_paused',
  'payer_blacklisted',
  'wallet_blacklisted',
  'refund_nonce_spent',
  'operator_pays',
  'note_transaction',
  'payout_cancelled',
  'payout_mismatch',
  'payout_gone',
  'payout_refused',
  'processor_key',
  'payment_not_shown',
] as const

export type PayBackFault = (typeof payBackFaults)[number]

/** A payout waits for an operator because the processor sends none of the coin. */
export const operatorPays: PayBackFault = 'operator_pays'

/** The token takes no refund of this order any more, so an operator pays it. */
export const nonceSpent: PayBackFault = 'refund_nonce_spent'

/** The processor calls a payout sent and names no transaction of it; an operator notes it. */
export const noteTransaction: PayBackFault = 'note_transaction'

/** The processor shows less confirmed money of an invoice than it did: it may never have been ours. */
export const paymentNotShown: PayBackFault = 'payment_not_shown'

/**
 * Failed payouts of which an operator may say that they were paid by hand. The store asks the processor
 * for none of them by itself, and never again for what was noted.
 */
export const payableByHand: ReadonlySet<string | null> = new Set<PayBackFault>([
  operatorPays,
  noteTransaction,
  'payout_cancelled',
  'payout_mismatch',
  'payout_gone',
  'payout_refused',
])
