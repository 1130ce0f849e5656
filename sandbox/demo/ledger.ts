/** One purchase of the demo and what became of its money; amounts in atomic USDC. */
export interface Purchase {
  readonly offerId: string
  readonly orderId: string
  readonly state: 'FULFILLED' | 'REFUNDED'
  readonly paid: bigint
  /** As the chain shows it, not as the store says; 0 for what was delivered. */
  readonly refunded: bigint
}

/** A payment in a coin and what became of it; amounts in the coin's smallest unit, as the chain shows them. */
export interface CoinPayment {
  /** Of the order, or of the checkout that became none. */
  readonly id: string
  readonly state: 'FULFILLED' | 'RETURNED'
  readonly paid: bigint
  readonly returned: bigint
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

/** One sentence for every payment in a coin that is neither delivered nor back in full. */
export function coinProblems(payments: readonly CoinPayment[]): readonly string[] {
  return payments
    .filter(({ state, paid, returned }) => {
      return paid === 0n || returned !== (state === 'RETURNED' ? paid : 0n)
    })
    .map(
      ({ id, state, paid, returned }) =>
        `${id} is ${state}, but of ${paid} paid ${returned} came back.`,
    )
}
