/** Why a method cannot pay a refund until an operator does something (docs/operators/treasury.md). */
const payBackFaults = [
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

/** The nonce of the refund is used, so the token accepts no refund of this order; an operator pays it. */
export const nonceSpent: PayBackFault = 'refund_nonce_spent'

/** The processor reports a payout as sent without naming its transaction; an operator records it. */
export const noteTransaction: PayBackFault = 'note_transaction'

/** The processor shows less confirmed money for an invoice than before: it may never have arrived. */
export const paymentNotShown: PayBackFault = 'payment_not_shown'

/** The payment is gone, and nothing was paid back for it, so nothing is owed. */
export const paymentVanished = 'payment_vanished'

/** After these an operator may pay by hand: the store asks the processor for these no more once that is recorded. */
export const payableByHand: ReadonlySet<string | null> = new Set<PayBackFault>([
  operatorPays,
  noteTransaction,
  'payout_cancelled',
  'payout_mismatch',
  'payout_gone',
  'payout_refused',
  paymentNotShown,
])
