import { type Outcome, unpaid } from './payments.ts'

export interface OutcomeSection {
  readonly id: string
  readonly heading: string
  /** Where the codes stand. */
  readonly lead: string
  readonly outcomes: readonly Outcome[]
}

const failedOrders: readonly Outcome[] = [
  {
    code: 'fulfillment_failed',
    note: 'FULFILLMENT_FAILED',
    when: 'The supplier or the carrier refused or failed.',
    agent: 'Wait for the refund. Buy something else, or correct what the message names.',
    operator: 'Nothing, unless one brand or operator stands out.',
  },
  {
    code: 'upstream_timeout',
    note: 'FULFILLMENT_FAILED',
    when: 'The supplier could not be reached in time and holds no purchase.',
    agent: 'Wait for the refund; try again later.',
    operator: 'Look at the supplier.',
  },
  {
    code: 'expired',
    note: 'EXPIRED',
    when: 'No final word within the deadline.',
    agent:
      "Wait for the refund: it is signed at the supplier's final no, at the latest when the grace ends.",
    operator: 'If it happens often, ask the supplier.',
  },
  {
    code: 'authorization_cancelled',
    note: 'PAYMENT_FAILED',
    when: 'As in the table above. Nothing was paid.',
    agent: 'Start a new purchase.',
    operator: 'Nothing.',
  },
  {
    code: 'authorization_spent',
    note: 'PAYMENT_FAILED',
    when: 'As in the table above. Nothing was paid.',
    agent: 'Start a new purchase.',
    operator: 'Nothing.',
  },
  {
    code: 'authorization_expired',
    note: 'PAYMENT_FAILED',
    when: 'As in the table above. Nothing was paid.',
    agent: 'Start a new purchase.',
    operator: 'Nothing.',
  },
]

const failedRefunds: readonly Outcome[] = [
  {
    code: 'no_float',
    when: 'The refund wallet holds too little USDC.',
    agent: 'Wait for the operator.',
    operator: 'Fill the refund wallet, then retry (docs/operations.md, *A refund that failed*).',
  },
  {
    code: 'no_gas',
    when: 'The gas wallet holds too little ETH.',
    agent: 'Wait for the operator.',
    operator: 'Fill the gas wallet, then retry.',
  },
  {
    code: 'token_paused',
    when: 'USDC is paused.',
    agent: 'Wait.',
    operator: 'Retry when it is not paused any more.',
  },
  {
    code: 'payer_blacklisted',
    when: 'USDC blocks the wallet that paid.',
    agent: 'Talk to the issuer of USDC.',
    operator: 'Retry if it is unblocked. Paying another address is not possible here.',
  },
  {
    code: 'wallet_blacklisted',
    when: 'USDC blocks the refund wallet.',
    agent: 'Wait for the operator.',
    operator: 'Talk to the issuer of USDC.',
  },
  {
    code: 'refund_nonce_spent',
    when: "The refund's nonce was used for something else, with the key of the refund wallet.",
    agent: 'Wait for the operator.',
    operator: 'Find that transaction. The refund has to be paid by hand.',
  },
  {
    code: 'operator_pays',
    when: 'BTCPay Server sends this coin by no way of its own (Monero), or not on this network any more.',
    agent: 'Wait for the operator.',
    operator: 'Pay it by hand, then note the transaction (docs/payment-processor.md).',
  },
  {
    code: 'note_transaction',
    when: 'BTCPay Server calls the payout sent and names no transaction.',
    agent: 'Wait for the operator.',
    operator: 'Do not pay it again: find its transaction and note it.',
  },
  {
    code: 'payout_cancelled',
    when: 'The payout was cancelled in BTCPay Server.',
    agent: 'Wait for the operator.',
    operator: 'Claim it again in BTCPay, then retry; or pay it by hand and note the transaction.',
  },
  {
    code: 'payout_mismatch',
    when: 'BTCPay Server has another amount or address under the name of this payout.',
    agent: 'Wait for the operator.',
    operator:
      'Look in BTCPay who changed it, and cancel what is wrong. Pay what is owed by hand and note the transaction.',
  },
  {
    code: 'payout_gone',
    when: 'BTCPay Server had a payout for it and does not show it any more, as after a restored backup.',
    agent: 'Wait for the operator.',
    operator:
      'Look on the chain whether it was sent. If so, note that transaction; if not, pay it by hand and note it.',
  },
  {
    code: 'payout_refused',
    when: 'BTCPay Server makes no such payout, for example because the amount is below what the chain carries.',
    agent: 'Wait for the operator.',
    operator:
      'Look at what BTCPay says (npm run refunds). Mend it and retry, or pay it by hand and note the transaction.',
  },
  {
    code: 'processor_key',
    when: 'The API key of BTCPay Server lacks a permission.',
    agent: 'Wait for the operator.',
    operator: 'Give the key its permissions (docs/payment-processor.md), then retry.',
  },
  {
    code: 'payment_not_shown',
    when: 'BTCPay Server shows less confirmed money of the invoice than it did.',
    agent: 'Wait for the operator.',
    operator:
      'Look at the invoice in BTCPay. When the money is there again, retry; else nothing is owed.',
  },
  {
    code: 'over_cap',
    when: "The refund alone is above the store's cap for refunds.",
    agent: 'Wait for the operator.',
    operator: 'Look whether it is right, raise the cap, then retry.',
  },
  {
    code: 'payment_vanished',
    when: 'The chain dropped the payment for good: no money was taken.',
    agent: 'Nothing: the money is still in the wallet that paid. Buy again.',
    operator: 'Nothing.',
  },
]

const unsoldOffers: readonly Outcome[] = [
  {
    code: 'required_fields',
    when: 'The brand asks for something that the purchase body cannot carry.',
    agent: 'Take another offer.',
    operator: 'Nothing.',
  },
  {
    code: 'open_value_currency',
    when: 'The value would be chosen in another currency than USD.',
    agent: 'Take another offer.',
    operator: 'Nothing.',
  },
  {
    code: 'open_value_kind',
    when: 'It is an eSIM plan of an open value, which the supplier cannot be told.',
    agent: 'Take another offer.',
    operator: 'Nothing.',
  },
  {
    code: 'list_stale',
    when: 'Its price was read from the supplier more than 24 h ago.',
    agent: 'Try again in an hour, or take another offer.',
    operator: 'See in the log why the list of offers is not read, or not believed.',
  },
  {
    code: 'rate_missing',
    when: 'There is no exchange rate for its currency.',
    agent: 'Try again in an hour, or take another offer.',
    operator: 'See whether `RATES_URL` answers and knows the currency.',
  },
  {
    code: 'rate_stale',
    when: 'The newest rate is too old.',
    agent: 'As above.',
    operator: 'See why rates are not read.',
  },
  {
    code: 'too_large',
    when: 'The store could not buy it or could not pay it back just now: it is above what the wallet at the supplier, the refund wallet or the caps of refunds allow. `most` is what a single purchase may cost.',
    agent: 'Take an offer or a value of at most `most`, or try again after Retry-After.',
    operator:
      'See `kiosk402_purchase_most_usdc`: fill the wallet at the supplier or the refund wallet, or raise the caps.',
  },
]

const unread: readonly Outcome[] = [
  {
    code: 'invalid_http',
    note: '400',
    when: 'The request is not valid HTTP.',
    agent: 'Mend the client.',
    operator: 'Nothing.',
  },
  {
    code: 'request_timeout',
    note: '408, retryable',
    when: 'The request took too long to arrive.',
    agent: 'Send it again.',
    operator: 'Nothing, unless it is seen often behind a proxy.',
  },
  {
    code: 'headers_too_large',
    note: '431',
    when: 'The headers are larger than 16 kB.',
    agent: 'Send fewer or shorter headers.',
    operator: 'Nothing.',
  },
]

/** Every other code that an agent may meet, by where it stands. Text in backticks is code. */
export const outcomeSections: readonly OutcomeSection[] = [
  {
    id: 'unread',
    heading: 'Requests that could not be read',
    lead: 'From the HTTP parser, before any path is known. The body serves the readers of both interfaces: a problem document with `error` beside it.',
    outcomes: unread,
  },
  {
    id: 'payments',
    heading: 'Payments that were not taken',
    lead: 'In the `code` of a 402 answer. None of them charged anything.',
    outcomes: unpaid,
  },
  {
    id: 'orders',
    heading: 'Orders that failed',
    lead: "In `orders[].error.code`. The supplier's own code is in `supplier_code`.",
    outcomes: failedOrders,
  },
  {
    id: 'refunds',
    heading: 'Refunds that failed',
    lead: "In `error.code` of the refund, whose state is then `REFUND_FAILED`. The log has `refund_failed` with the order's id. Nothing is lost: the same refund is sent once the cause is gone and it is tried again, by the operator (`npm run refunds -- retry`, docs/treasury.md) or by a claim.",
    outcomes: failedRefunds,
  },
  {
    id: 'offers',
    heading: 'Offers that are not sold',
    lead: 'In `reason` of `offer_unavailable`.',
    outcomes: unsoldOffers,
  },
]
