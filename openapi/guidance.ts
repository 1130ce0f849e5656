import type { Group } from '../src/api/operation.ts'

/** What an agent should know before its first call. Indexes show it; it must stay below 4,000 characters. */
export const guidance = `Gift vouchers, mobile topups and eSIM data plans, paid per purchase with x402 in USDC. No account, no key.

1. Find an offer: searchVouchers, searchTopups, searchEsims (only what is on sale, free), or browseVouchers, browseTopups, browseEsims (with exact prices). Take its offerId. voucherOffer, topupOffer and esimOffer give the exact schema of the body that buys it.
2. Ask what it costs: quoteVoucher, quoteTopup, quoteEsim take the fields of the purchase in the query. Nothing is stored or charged.
3. Buy: purchaseVoucher, purchaseTopup, purchaseEsim. Without a payment the answer is 402 with the price; sign accepts[0] and send the same request with PAYMENT-SIGNATURE. Add an Idempotency-Key of your own.
4. 200 has the goods. 202 means not yet: read Location again after Retry-After. Never pay a second time while an order is PAYMENT_PENDING, PAID or FULFILLING. When an answer was lost, send the very same request with the same payment: it gives the same order.
5. Keep orderId and accessToken: Authorization: Bearer {accessToken} on getOrder shows the goods again. A wallet can also sign in (SIGN-IN-WITH-X) and list its orders.
6. What is not delivered is refunded in full to the paying wallet by itself; getRefund watches it.

Amounts: price and faceValue are in minor units with currencyDivisor; usdc is atomic (1 USDC is 1000000). Read signals in the manifest first: stop means that purchases are refused. Errors name the one parameter at fault and what to do; retryable and charged say whether to send the same request again.`

export const textsOfGroups: Readonly<Record<Group, string>> = {
  Discovery: 'Search everything that is on sale. Free, without a key.',
  Catalog: 'Browse everything, with exact prices and what cannot be bought just now.',
  Buying: 'Ask for the price, and buy.',
  Orders: 'Read orders, and watch or claim refunds.',
  Store: 'The store itself: its manifest and its health.',
}
