import type { Usdc } from '../lib/money.ts'
import { same } from './payment.ts'

/** One log of the token contract, in the order in which the transaction wrote it. */
export type TokenLog =
  | {
      readonly event: 'AuthorizationUsed' | 'AuthorizationCanceled'
      readonly authorizer: string
      readonly nonce: string
      readonly index: number
    }
  | {
      readonly event: 'Transfer'
      readonly from: string
      readonly to: string
      readonly value: bigint
      readonly index: number
    }

export interface Expected {
  readonly from: string
  readonly to: string
  readonly value: Usdc
  readonly nonce: string
}

/**
 * The token writes `AuthorizationUsed` and directly after it the `Transfer`. Both anywhere in the same transaction is
 * not enough: one multicall can burn this nonce on a transfer to somebody else beside one that pays another order.
 */
export function provesTransfer(logs: readonly TokenLog[], expected: Expected): boolean {
  const used = logs.find((log) => log.event === 'AuthorizationUsed' && isOf(log, expected))
  if (!used) return false
  const next = logs.find((log) => log.index === used.index + 1)
  return (
    next?.event === 'Transfer' &&
    same(next.from, expected.from) &&
    same(next.to, expected.to) &&
    next.value === expected.value
  )
}

function isOf(log: { authorizer: string; nonce: string }, expected: Expected): boolean {
  return same(log.authorizer, expected.from) && same(log.nonce, expected.nonce)
}
