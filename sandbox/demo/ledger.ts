/** One purchase of the demo and what became of its money; amounts in atomic USDC. */
export interface Purchase {
  readonly offerId: string
  readonly orderId: string
  readonly state: 'FULFILLED' | 'REFUNDED'
  readonly paid: bigint
  /** As the chain shows it, not as the store says; 0 for what was delivered. */
  readonly refunded: bigint
}

export interface Books {
  readonly spent: bigint
  readonly refunded: bigint
  /** What the wallet must hold: what it began with, less the purchases that were delivered. */
  readonly expected: bigint
  /** One sentence for everything that does not add up. */
  readonly problems: readonly string[]
}

/** Adds up the purchases and compares them with what the chain says the wallet holds. */
export function audit(
  purchases: readonly Purchase[],
  { start, final }: { readonly start: bigint; readonly final: bigint },
): Books {
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const delivered = purchases.filter(({ state }) => state === 'FULFILLED')
  const expected = start - sum(delivered.map(({ paid }) => paid))
  const halfway = purchases.filter(
    ({ state, paid, refunded }) => refunded !== (state === 'REFUNDED' ? paid : 0n),
  )
  return {
    spent: sum(purchases.map(({ paid }) => paid)),
    refunded: sum(purchases.map(({ refunded }) => refunded)),
    expected,
    problems: [
      ...halfway.map(
        ({ orderId, state, paid, refunded }) =>
          `${orderId} is ${state}, but of ${paid} paid ${refunded} came back.`,
      ),
      ...(final === expected ? [] : [`The wallet holds ${final}, not the expected ${expected}.`]),
    ],
  }
}
