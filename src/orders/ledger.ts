import type { Order } from './order.ts'

/**
 * The accounts for the money of buyers. What was received is open until it is delivered or refunded, so the
 * entries of every order sum to zero: received = open + delivered + refunded.
 */
export type Account = 'received' | 'open' | 'delivered' | 'refunded'

/** One side of a double entry, in the smallest unit. Positive in `received`, negative where the money is now. */
export interface Entry<A = Account> {
  readonly account: A
  readonly amount: bigint
}

export function entriesOf(from: Order | undefined, to: Order): readonly Entry[] {
  return entriesBetween(from ? balancesOf(from) : [], balancesOf(to))
}

export function entriesBetween<A>(
  from: readonly Entry<A>[],
  to: readonly Entry<A>[],
): readonly Entry<A>[] {
  const sums = new Map<A, bigint>()
  const add = ({ account, amount }: Entry<A>, sign: bigint) =>
    sums.set(account, (sums.get(account) ?? 0n) + sign * amount)
  for (const entry of from) add(entry, -1n)
  for (const entry of to) add(entry, 1n)
  return [...sums].flatMap(([account, amount]) => (amount === 0n ? [] : [{ account, amount }]))
}

/** Where the money of an order is, in atomic USDC. A payment that vanished from the chain was never received. */
export function balancesOf(order: Order): readonly Entry[] {
  if (order.state === 'PAYMENT_PENDING' || order.state === 'PAYMENT_FAILED') return []
  if (order.settlement === 'LOST') return []
  const { amount } = order
  return [
    { account: 'received', amount },
    { account: whereabouts(order), amount: -amount },
  ]
}

function whereabouts(order: Order): Exclude<Account, 'received'> {
  if (order.state === 'FULFILLED') return 'delivered'
  return 'payout' in order && order.payout?.state === 'CONFIRMED' ? 'refunded' : 'open'
}
