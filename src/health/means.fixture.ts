import { usdc } from '../lib/money.ts'
import type { Means } from './verdict.ts'

/** A store with more of everything than anybody asks for, so that nothing is bounded. */
export const ample: Means = {
  cover: { float: usdc(10n ** 18n), exposure: usdc(0n) },
  pending: usdc(0n),
  gas: { balance: 1n, need: 0n },
  funds: 'unbounded',
  maxRefund: undefined,
  maxBorneOut: undefined,
  cheapest: undefined,
}
