/** Why a rail cannot pay a refund until an operator does something (docs/treasury.md). */
export const payBackFaults = [
  'no_float',
  'no_gas',
  'token_paused',
  'payer_blacklisted',
  'wallet_blacklisted',
  'refund_nonce_spent',
  'operator_pays',
  'payout_cancelled',
  'payout_mismatch',
  'payout_refused',
  'processor_key',
] as const

export type PayBackFault = (typeof payBackFaults)[number]
