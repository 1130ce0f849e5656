import type { RefusalCode } from '../../../lib/refusal.ts'

/** The codes that an error can carry: every refusal, and the one for a defect of ours. */
export type ErrorCode = RefusalCode | 'internal_error'

/** What an error means, for those who meet it. */
export interface ErrorText {
  /** In which case the store says so. */
  readonly when: string
  /** What the agent that asked does now. */
  readonly agent: string
  /** What the operator of the store does, if anything. */
  readonly operator: string
}

const nothing = 'Nothing: the request was wrong, the store is well.'

/** A code without its texts does not compile. The order is that of the page. */
export const errorTexts: Readonly<Record<ErrorCode, ErrorText>> = {
  invalid_parameter: {
    when: 'A parameter of the query has a value that it cannot have: out of range, misspelt, of the wrong type.',
    agent:
      'Correct the parameter named in "parameter"; where there is a list, "allowed" has it, and "didYouMean" is what was probably meant.',
    operator: nothing,
  },
  unknown_parameter: {
    when: 'The query has a parameter that this path does not know.',
    agent: 'Take the parameter that the message suggests, or one of "allowed".',
    operator: nothing,
  },
  repeated_parameter: {
    when: 'The same parameter stands in the query more than once.',
    agent: 'Send it once. Lists, where they are taken, are separated by commas.',
    operator: nothing,
  },
  invalid_url: {
    when: 'The path is not UTF-8 in percent encoding.',
    agent: 'Encode the address again, and take it from buy_url or the manifest where you can.',
    operator: nothing,
  },
  invalid_json: {
    when: 'The body is not JSON, not UTF-8, or not an object.',
    agent: 'Send one JSON object, such as {"offerId": "…"}.',
    operator: nothing,
  },
  invalid_body: {
    when: 'The body is JSON, but fields are missing, unknown or not valid for this offer.',
    agent:
      'Correct every field listed in "errors"; where it has "didYouMean", that was probably meant. The record of the offer has the exact schema.',
    operator:
      'Nothing, unless it is seen often for one brand: then the brand may ask for more than its record says.',
  },
  invalid_header: {
    when: 'A header is malformed or too long, such as an Idempotency-Key with other characters than A-Z, a-z, 0-9, _ and -.',
    agent: 'Correct the header named in "parameter".',
    operator: nothing,
  },
  unsupported_media_type: {
    when: 'The body is sent as something else than JSON.',
    agent: 'Send it with Content-Type: application/json.',
    operator: nothing,
  },
  body_too_large: {
    when: 'The body has more than 16 kB.',
    agent: 'Send only the fields of the purchase; no good needs that much.',
    operator: nothing,
  },
  not_found: {
    when: 'There is nothing at this address.',
    agent: 'Start from the manifest or from /ai, which list every address.',
    operator: 'Nothing, unless a link on one of your own pages leads there.',
  },
  method_not_allowed: {
    when: 'The address exists, but not for this method.',
    agent: 'Use a method from the Allow header. Only POST buys; GET on the same address quotes.',
    operator: nothing,
  },
  offer_not_found: {
    when: 'No offer has this id, or it is of another kind.',
    agent:
      'Take the id in "didYouMean", where there is one. Else search again: the supplier may have taken the offer out of its list.',
    operator: 'Nothing, unless many offers vanished at once: then look at the catalog in the log.',
  },
  offer_unavailable: {
    when: 'The offer is known but not sold now. "reason" says why: no fresh exchange rate or price, the brand asks for something the store cannot pass on, or it costs more than the store can buy or pay back just now.',
    agent:
      'Take another offer. With rate_missing, rate_stale or list_stale, trying again in an hour may help; with too_large, take one of at most `most`.',
    operator:
      'With rate_missing or rate_stale, see why the exchange rates are not read; with list_stale, the offers; with too_large, see docs/treasury.md.',
  },
  order_not_found: {
    when: 'No order has this id, payment id or transaction; or it ended long ago and is archived, and the text says so.',
    agent:
      'Check the id. Right after paying, repeat the purchase itself instead: it gives the same order and charges nothing.',
    operator:
      'If a buyer shows a transaction to your address without an order, treat it as money to return.',
  },
  payment_invalid: {
    when: 'The payment cannot be read, is not signed by its payer, has expired, or its wallet has too little USDC. Nothing was charged.',
    agent: 'Read the reason, mend it (fill the wallet, correct the clock), and sign a new payment.',
    operator: 'Nothing, unless every payment fails: then check the RPC node and the gas wallet.',
  },
  payment_mismatch: {
    when: 'The payment is valid but not for this purchase: another amount, asset, network or receiver. Nothing was charged.',
    agent: 'Sign what this very answer asks for; a price promised earlier holds for five minutes.',
    operator: nothing,
  },
  payment_reused: {
    when: 'This payment already paid for another purchase.',
    agent:
      'Sign a new payment for the new purchase. To get the first order again, repeat its exact request with its idempotency key, its access token or a sign-in of the paying wallet: the payment alone only tells where the order stands.',
    operator: nothing,
  },
  idempotency_conflict: {
    when: 'The idempotency key was used for another request before.',
    agent: 'Take a new key for a new purchase; keep a key only for repeating the same request.',
    operator: nothing,
  },
  idempotency_key_missing: {
    when: 'A refund is claimed without an Idempotency-Key.',
    agent: 'Send a key of 16 to 128 characters, and the same one when you repeat the claim.',
    operator: nothing,
  },
  no_receipt: {
    when: 'A receipt is asked for, and the payment of the order is not proven yet, or no money came.',
    agent:
      'Read "state". While it is PAYMENT_PENDING, poll the order and ask again once it is paid.',
    operator: 'Nothing. If a payment stays pending for long, look at the RPC node.',
  },
  not_refundable: {
    when: 'The order was delivered, or is still under way, so there is nothing to refund.',
    agent:
      'Read "refund_rule". While an order is under way, poll it: if it fails, its refund starts by itself.',
    operator: 'If the buyer says that the good does not work, take it up with the supplier.',
  },
  refund_destination_refused: {
    when: 'A refund claim names where the money should go.',
    agent: 'Leave the destination out: refunds go to the wallet that paid, and nowhere else.',
    operator: 'Nothing. Somebody who asks for this may not be the buyer.',
  },
  sign_in_invalid: {
    when: 'The SIGN-IN-WITH-X header is not valid: wrong origin, used or expired challenge, wrong signature.',
    agent:
      'Ask without the header for a new challenge, sign it with the paying wallet, send it once.',
    operator:
      'If nobody can sign in, check that the public URL of the store is set as people reach it.',
  },
  limit_exceeded: {
    when: 'The wallet has set itself limits, and the purchase goes beyond the one named in "limit".',
    agent:
      'Buy within the limit, or wait for "until" where it is given. Do not work around it: whoever set it may loosen it, which takes effect a day later.',
    operator: 'Nothing: the limits are the wallet’s own.',
  },
  rate_limited: {
    when: 'More requests than allowed came from this address within a minute.',
    agent: 'Wait for the seconds in Retry-After. The RateLimit header tells how many are left.',
    operator: 'If all clients seem to be one, name your proxies in TRUSTED_PROXIES; else nothing.',
  },
  budget_spent: {
    when: 'Within the last hour too many orders of this wallet, from this address or for the same receiver came to nothing: their payments did not pay ("budget": unpaid_payments), or were reverted at the expense of the store (reverts), or they could not be delivered and were paid back (failed_orders). Or too many claims came for the refund of one order, or from one address (refund_claims). Or much of what the store pays refunds from is in use, and what is open of this wallet or from this address, or was paid back within an hour, would come to more than their share of it (exposure). "whose" says of whom. On the website: too many payments in a coin were begun from one address and wait unpaid ("unpaid").',
    agent:
      'Wait for the seconds in Retry-After. Do not sign another payment while one of yours is open. With receiver, check the number. Claims are never needed: read the refund instead.',
    operator:
      'Nothing, unless many hear it: then see why orders fail. UNPAID_PAYMENTS_PER_HOUR and FAILED_ORDERS_PER_HOUR set the budgets.',
  },
  store_paused: {
    when: 'The supplier, the chain or the database is down, or a wallet of the store does not suffice for even the cheapest purchase, so the store takes no money.',
    agent: 'Wait for Retry-After, then read "signals" in the manifest before trying again.',
    operator: 'Look at /readyz: it names the part that is down. The store resumes by itself.',
  },
  try_again: {
    when: 'A part of the store did not answer in time. "charged" says whether money can have moved.',
    agent: 'Send the very same request again after Retry-After. It cannot charge you twice.',
    operator:
      'If it lasts, look at /readyz and at the log of the database, the RPC node or the supplier.',
  },
  too_costly: {
    when: 'The network asks more for a transaction just now than the store pays for a settlement, so it has sent nothing.',
    agent: 'Send the very same request again after Retry-After. Fees usually fall within minutes.',
    operator:
      'If it lasts, compare MAX_SETTLEMENT_GWEI with what the network asks: above it, refunds wait as well.',
  },
  internal_error: {
    when: 'Something unexpected happened in the store. On purchases, "charged" says "unknown".',
    agent:
      'Repeat the very same request, with the same payment and idempotency key: it finds the order, if there is one.',
    operator:
      'Find the requestId of the answer in the log; the error stands there with its cause. It is a defect: report it.',
  },
}
