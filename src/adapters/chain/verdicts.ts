import { BaseError } from 'viem'
import { messageOf, whyUnreached } from '../../lib/errors.ts'

interface Bad {
  readonly code: string
  readonly reason: string
}

export const unreadableSignature = bad('bad_signature', 'The signature cannot be read.')

export const ownReasons = {
  too_much: 'settlement_too_costly',
  refused: 'settlement_refused',
  too_dear: 'network_too_dear',
} as const

const reasons = {
  bad_signature: 'The signature does not fit the payment and its payer.',
  nonce_used: 'This authorization was used or cancelled before; sign a new one.',
  insufficient_balance: 'The paying wallet does not hold enough USDC.',
  expired: 'The authorization has expired, or is about to.',
  not_yet_valid: 'The authorization is not valid yet.',
  wrong_amount: 'The authorization is not for the exact amount.',
  wrong_recipient: 'The authorization does not pay this store.',
  wallet_not_deployed: 'The paying smart wallet is not deployed on this chain.',
  would_fail: 'The token would refuse this transfer.',
  too_costly:
    'The signature check or the deployment of the paying wallet takes more gas than the store pays for.',
} as const

const codes: Readonly<Record<string, keyof typeof reasons>> = {
  invalid_exact_evm_signature: 'bad_signature',
  invalid_exact_evm_payload_signature: 'bad_signature',
  invalid_exact_evm_nonce_already_used: 'nonce_used',
  invalid_exact_evm_insufficient_balance: 'insufficient_balance',
  insufficient_funds: 'insufficient_balance',
  invalid_exact_evm_payload_authorization_valid_before: 'expired',
  invalid_exact_evm_payload_authorization_valid_after: 'not_yet_valid',
  invalid_exact_evm_payload_authorization_value_mismatch: 'wrong_amount',
  invalid_exact_evm_authorization_value: 'wrong_amount',
  invalid_exact_evm_recipient_mismatch: 'wrong_recipient',
  invalid_exact_evm_payload_recipient_mismatch: 'wrong_recipient',
  invalid_exact_evm_payload_undeployed_smart_wallet: 'wallet_not_deployed',
  invalid_exact_evm_transaction_simulation_failed: 'would_fail',
  [ownReasons.refused]: 'would_fail',
  [ownReasons.too_much]: 'too_costly',
}

/** A reason that is not here is not known to be the buyer's fault, and never answered as a bad payment. */
export const badPayments: Readonly<Record<string, Bad>> = {
  ...Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [name, bad(code, reasons[code])]),
  ),
  invalid_exact_evm_failed_to_parse_signature: unreadableSignature,
  eip6492_factory_not_allowed: bad(
    'wallet_not_deployed',
    'The paying smart wallet is not deployed, and its factory is not one this store deploys.',
  ),
}

export const paidByRefunds = bad(
  'payment_mismatch',
  'The wallet that pays the refunds of this store buys nothing here.',
)

/** One simulation fails and the next succeeds; only the payer's own code can cause that. */
export const inconsistentWallet = bad(
  'wallet_inconsistent',
  'The paying smart wallet accepts the signature in one simulation and refuses it in another.',
)

export const deadPayments = {
  cancelled: bad(
    'authorization_cancelled',
    'The payer cancelled the authorization before it was used.',
  ),
  spent_elsewhere: bad(
    'authorization_spent',
    'The payer used the authorization for another transfer.',
  ),
  expired: bad('authorization_expired', 'The authorization ran out without having been used.'),
} as const

/** A short reason for logs and records. The long form of these errors repeats calldata and addresses. */
export function reasonOf(error: unknown): string {
  if (error instanceof BaseError) return error.shortMessage
  if (error instanceof TypeError && error.cause !== undefined) return whyUnreached(error)
  return messageOf(error)
}

function bad(code: string, reason: string): Bad {
  return { code, reason }
}
