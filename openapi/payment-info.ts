import type { Kind } from '../src/catalog/offer.ts'
import { networks } from '../src/payments/networks.ts'

/**
 * How a purchase is paid, in both forms that indexes read under this one name: x402scan's `price`
 * and `protocols`, and the `offers` of the MPP discovery draft. What must be paid is never taken
 * from here: the 402 names it.
 */
export function paymentInfo(kind: Kind): object {
  return {
    price: { mode: 'dynamic', currency: 'USD', min: '0.01' },
    protocols: [{ x402: {} }],
    offers: [
      {
        intent: 'charge',
        method: 'evm',
        // It depends on the offer that is bought.
        amount: null,
        currency: networks['base-sepolia'].usdc,
        description: `The price of the ${kind} in USDC. Paid with x402: the 402 names the exact amount.`,
      },
    ],
  }
}
