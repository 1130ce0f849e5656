import type { Usdc } from '../lib/money.ts'
import type { Network } from './networks.ts'
import type { Terms } from './x402.ts'

/** Where buyers send their money. */
export interface Payee {
  readonly network: Network
  readonly payTo: string
  /** Where they sent it before: nothing is taken there now, and what was signed for it may still have paid. */
  readonly earlier?: readonly string[]
}

/** How long a price is honoured and a payment may take, in seconds (docs/decisions/003). */
export const termsValidSeconds = 300

/**
 * What a buyer has to sign, in the words of x402. The same amount always gives the same terms.
 *
 * @param quote our signed promise of this price, which the buyer echoes
 */
export function termsOf(amount: Usdc, payee: Payee, quote?: string): Terms {
  return {
    scheme: 'exact',
    network: payee.network.id,
    asset: payee.network.usdc,
    amount: amount.toString(),
    payTo: payee.payTo,
    maxTimeoutSeconds: termsValidSeconds,
    extra: { ...payee.network.usdcDomain, ...(quote === undefined ? {} : { quote }) },
  }
}
