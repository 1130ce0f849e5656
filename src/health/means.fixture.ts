import { usdc } from '../lib/money.ts'
import type { Funds, Means } from './verdict.ts'

/** Means so ample that nothing limits purchases. */
export const ample: Means = {
  cover: { float: usdc(10n ** 18n), exposure: usdc(0n) },
  pending: usdc(0n),
  gas: { balance: 1n, need: 0n },
  funds: new Map([['zendit', 'unbounded']]),
  maxRefund: undefined,
  maxBorneOut: undefined,
  cheapest: undefined,
}

const nothing = { pending: usdc(0n), committed: usdc(0n), unconfirmed: usdc(0n) }

/** What the wallet at the one supplier holds. */
export function fundsOf(available: bigint, open: Partial<Funds> = {}): Means['funds'] {
  return new Map([['zendit', { ...nothing, ...open, available: usdc(available) }]])
}
