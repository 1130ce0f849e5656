import type { Usdc } from '../lib/money.ts'
import type { Network } from './networks.ts'
import type { Terms } from './x402.ts'

/** Where buyers send their money. */
export interface Payee {
  readonly network: Network
  readonly payTo: string
  /** Earlier addresses. The store accepts no payment there now, but an authorization to one may have landed. */
  readonly earlier?: readonly string[]
}

/** The payee on each network that the store accepts, the preferred one first. */
export type Payees = readonly [Payee, ...Payee[]]

/** The same price on each network; a buyer signs one of them. */
export type Accepts = readonly [Terms, ...Terms[]]

export function payeeOn(payees: Payees, network: string): Payee | undefined {
  return payees.find((one) => one.network.id === network)
}

/** How many seconds a price is kept and a payment may take (docs/contributors/decisions/003). */
export const termsValidSeconds = 300

/** The same amount always gives the same terms. @param quote our signed promise, which the buyer echoes */
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

export function acceptsOf(amount: Usdc, [first, ...others]: Payees, quote?: string): Accepts {
  return [termsOf(amount, first, quote), ...others.map((payee) => termsOf(amount, payee, quote))]
}
