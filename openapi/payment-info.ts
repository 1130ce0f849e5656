import type { Kind } from '../src/catalog/offer.ts'
import { networks } from '../src/payments/networks.ts'

/**
 * How a purchase is paid, in both forms that indexes read under this name: `price` and `protocols` of
 * x402scan, and `offers` of the MPP discovery draft. Clients take the amount from the 402, never from here.
 */
export function paymentInfo(kind: Kind): object {
  return {
    price: { mode: 'dynamic', currency: 'USD', min: '0.01' },
    protocols: [{ x402: {} }],
    offers: [
      {
        intent: 'charge',
        method: 'evm',
        // Depends on the offer.
        amount: null,
        currency: networks['base-sepolia'].usdc,
        description: `The price of the ${kind} in USDC. Paid with x402: the 402 names the exact amount.`,
      },
    ],
  }
}
