/** One purchase of the demo and where its money went; amounts in atomic USDC. */
export interface Purchase {
  readonly offerId: string
  readonly orderId: string
  readonly state: 'FULFILLED' | 'REFUNDED'
  readonly paid: bigint
  /** From the chain, not from the store; 0 if it was delivered. */
  readonly refunded: bigint
}

/** A payment in a coin and where it went; amounts in the coin's smallest units, from the chain. */
export interface CoinPayment {
  /** The id of the order, or of the checkout that never became one. */
  readonly id: string
  readonly state: 'FULFILLED' | 'RETURNED'
  readonly paid: bigint
  readonly returned: bigint
}

export interface Books {
  readonly spent: bigint
  readonly refunded: bigint
  /** The balance that the wallet must have: the one at the start, less the delivered purchases. */
  readonly expected: bigint
  /** One sentence for each discrepancy. */
  readonly problems: readonly string[]
}

/** Adds up the purchases and compares the result with the wallet's balance on the chain. */
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

/** One sentence for each payment in a coin that was neither delivered nor refunded in full. */
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
