import { type Expected, provesTransfer, type TokenLog } from '../../src/payments/proof.ts'
import type { Clock } from './clock.ts'

/** A signed EIP-3009 authorization, as the token reads it. Every signature of the model is good. */
export interface Authorization extends Expected {
  /** Chain time, in seconds. */
  readonly validBefore: number
}

export interface Transfer {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly nonce: string
  readonly at: Date
  readonly block: number
  readonly transaction: string
}

interface Transaction {
  readonly hash: string
  readonly block: number
  readonly logs: readonly TokenLog[]
}

export type Verdict =
  | { readonly verdict: 'transferred'; readonly transaction: string; readonly block: number }
  | { readonly verdict: 'dead'; readonly cause: 'cancelled' | 'spent_elsewhere' | 'expired' }
  | { readonly verdict: 'open' }

const blockSeconds = 2
/** Half a minute of blocks may still be dropped, as far as anyone can tell. */
const safeLagBlocks = 15

export type Chain = ReturnType<typeof modelChain>

/** USDC on a chain: balances, authorizations that are used or cancelled once, and the logs of both. */
export function modelChain(clock: Clock) {
  const balances = new Map<string, bigint>()
  const uses = new Map<string, Transaction>()
  const transfers: Transfer[] = []

  const useKey = ({ from, nonce }: Expected) => `${from}:${nonce}`.toLowerCase()
  const balanceOf = (address: string) => balances.get(address.toLowerCase()) ?? 0n
  const fund = (address: string, value: bigint) =>
    balances.set(address.toLowerCase(), balanceOf(address) + value)
  const head = () => Math.floor(clock.now().getTime() / 1_000 / blockSeconds)
  const safe = () => ({
    number: head() - safeLagBlocks,
    timestamp: (head() - safeLagBlocks) * blockSeconds,
  })

  function mine(authorization: Authorization, logs: readonly TokenLog[]): Transaction {
    const hash = `0x${String(uses.size + 1).padStart(64, 'a')}`
    const transaction = { hash, block: head(), logs }
    uses.set(useKey(authorization), transaction)
    return transaction
  }

  /** `transferWithAuthorization`: false where the token reverts. */
  function execute(authorization: Authorization): boolean {
    const { from, to, value, nonce, validBefore } = authorization
    const ends = head() * blockSeconds >= validBefore
    if (ends || uses.has(useKey(authorization)) || balanceOf(from) < value) return false
    const { hash, block } = mine(authorization, [
      { event: 'AuthorizationUsed', authorizer: from, nonce, index: 0 },
      { event: 'Transfer', from, to, value, index: 1 },
    ])
    fund(from, -value)
    fund(to, value)
    transfers.push({ from, to, value, nonce, at: clock.now(), block, transaction: hash })
    return true
  }

  /** `cancelAuthorization`: it sets the same flag as a use. */
  function cancel(authorization: Authorization): void {
    const { from: authorizer, nonce } = authorization
    if (uses.has(useKey(authorization))) return
    mine(authorization, [{ event: 'AuthorizationCanceled', authorizer, nonce, index: 0 }])
  }

  /** The payer's other authorization with the same nonce, beside a look-alike of the payment. */
  function spendElsewhere(authorization: Authorization): void {
    const { from, to, value, nonce } = authorization
    if (uses.has(useKey(authorization))) return
    mine(authorization, [
      { event: 'AuthorizationUsed', authorizer: from, nonce, index: 0 },
      { event: 'Transfer', from, to: from, value, index: 1 },
      { event: 'Transfer', from: 'another buyer', to, value, index: 2 },
    ])
  }

  /** Only logs prove a transfer, and only a block that stays proves that none will come. */
  function judge(authorization: Authorization): Verdict {
    const use = uses.get(useKey(authorization))
    if (!use) {
      const isOver = safe().timestamp >= authorization.validBefore
      return isOver ? { verdict: 'dead', cause: 'expired' } : { verdict: 'open' }
    }
    if (provesTransfer(use.logs, authorization)) {
      return { verdict: 'transferred', transaction: use.hash, block: use.block }
    }
    return use.block > safe().number ? { verdict: 'open' } : otherUse(use)
  }

  return {
    transfers,
    balanceOf,
    fund,
    execute,
    cancel,
    spendElsewhere,
    judge,
    head,
    seconds: () => head() * blockSeconds,
    isSafe: (block: number) => block <= safe().number,
    isUsed: (authorization: Authorization) => uses.has(useKey(authorization)),
  }
}

/** What else than the transfer an authorization was used up for. */
function otherUse({ logs }: Transaction): Verdict {
  const isCancelled = logs.some(({ event }) => event === 'AuthorizationCanceled')
  return { verdict: 'dead', cause: isCancelled ? 'cancelled' : 'spent_elsewhere' }
}
