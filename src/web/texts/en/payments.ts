import type { ErrorText } from './error-codes.ts'

/** A code that stands elsewhere than in the `code` of a problem document. */
export interface Outcome extends ErrorText {
  readonly code: string
  /** The status or the state that it comes with, where that says more. */
  readonly note?: string
}

/** Why a payment was not taken. */
export const unpaid: readonly Outcome[] = [
  {
    code: 'payment_invalid',
    note: '402',
    when: '`PAYMENT-SIGNATURE` cannot be read.',
    agent: 'Send base64 of the JSON payload, once, at most 14 kB.',
    operator: 'Nothing.',
  },
  {
    code: 'payment_mismatch',
    note: '402',
    when: 'It is signed for other terms: amount, asset, network or receiver.',
    agent: 'Sign what this answer asks for.',
    operator: 'Nothing.',
  },
  {
    code: 'expired',
    note: '402',
    when: 'The authorization has ended, or ends within 30 seconds.',
    agent: 'Sign a new one; check the clock.',
    operator: 'Nothing.',
  },
  {
    code: 'valid_too_long',
    note: '402',
    when: 'It holds for more than ten minutes.',
    agent: 'Sign one for `maxTimeoutSeconds`.',
    operator: 'Nothing.',
  },
  {
    code: 'not_yet_valid',
    note: '402',
    when: 'Its `validAfter` lies ahead.',
    agent: 'Sign one that is valid now; check the clock.',
    operator: 'Nothing.',
  },
  {
    code: 'bad_signature',
    note: '402',
    when: 'The signature does not fit the payment and its payer.',
    agent: 'Sign with the wallet that is named, and with the name and version in `extra`.',
    operator: 'Nothing.',
  },
  {
    code: 'nonce_used',
    note: '402',
    when: 'The authorization was used or cancelled before.',
    agent: 'Sign a new one.',
    operator: 'Nothing.',
  },
  {
    code: 'insufficient_balance',
    note: '402',
    when: 'The wallet holds too little USDC.',
    agent: 'Fill the wallet.',
    operator: 'Nothing.',
  },
  {
    code: 'wrong_amount',
    note: '402',
    when: 'The authorization is for another amount.',
    agent: 'Sign the exact amount.',
    operator: 'Nothing.',
  },
  {
    code: 'wrong_recipient',
    note: '402',
    when: 'The authorization pays somebody else.',
    agent: 'Sign for `payTo`.',
    operator: 'Nothing.',
  },
  {
    code: 'wallet_not_deployed',
    note: '402',
    when: 'The paying smart wallet is not deployed, and its factory is not in `WALLET_FACTORIES`.',
    agent: 'Deploy the wallet, or pay with another.',
    operator: 'Add the factory if you want to pay for deployments.',
  },
  {
    code: 'would_fail',
    note: '402',
    when: 'USDC would refuse the transfer.',
    agent: 'See whether the wallet is blocked.',
    operator:
      'Nothing: while USDC is paused or has blacklisted the store, the answer is `try_again`.',
  },
  {
    code: 'too_costly',
    note: '402',
    when: 'The signature check of the paying smart wallet takes so much gas that settling would cost more than 450 000.',
    agent: 'Pay with another wallet.',
    operator: 'Nothing: the payer chooses what its wallet costs, and you would pay.',
  },
  {
    code: 'wallet_inconsistent',
    note: '402',
    when: 'The paying smart wallet accepts its signature in one simulation and refuses it in another.',
    agent: 'Pay with another wallet.',
    operator: 'Nothing: the wallet of the payer decides by the gas it is given, or by who asks.',
  },
  {
    code: 'authorization_cancelled',
    note: '402',
    when: 'The payer cancelled the authorization while it was being settled.',
    agent: 'Sign a new one.',
    operator: 'Nothing.',
  },
  {
    code: 'authorization_spent',
    note: '402',
    when: 'The payer spent it on another transfer meanwhile.',
    agent: 'Sign a new one.',
    operator: 'Nothing.',
  },
  {
    code: 'authorization_expired',
    note: '402',
    when: 'It ran out without being used.',
    agent: 'Sign a new one.',
    operator: 'If it happens often, look at the gas wallet and at the node.',
  },
]
