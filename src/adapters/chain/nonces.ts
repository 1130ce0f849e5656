/** What hands out the numbers of one account's transactions. */
export interface AccountNonces {
  /** The lowest number that is free as far as is known. It is kept until it is given back. */
  take(): Promise<number>
  /** Its transaction is in a block, or never left: what the node counts decides from now on. */
  giveBack(nonce: number): void
  /** Somebody else who holds the same key has a transaction under this number. */
  yieldTo(nonce: number): void
  /** Whether one of our own transactions is on its way under this number. */
  isOurs(nonce: number): boolean
}

/** A number is kept no longer than this, so that nothing can leave a gap for ever. */
const maxKeptMs = 30_000
/** How long a number that somebody else has may be missing in what the node counts. */
const maxYieldedMs = 5_000

/**
 * The node's count alone would give two settlements at once the same number. A count kept here
 * would be wrong as soon as a transaction is dropped, or another process sends with the same key.
 * So the node counts, each time, and here is only kept which numbers are in use meanwhile.
 *
 * @param count how many transactions of the account the node knows, those not in a block included
 */
export function accountNonces(count: () => Promise<number>): AccountNonces {
  const kept = new Map<number, { readonly until: number; readonly isOurs: boolean }>()
  const keep = (nonce: number, isOurs: boolean) => {
    const ms = isOurs ? maxKeptMs : maxYieldedMs
    kept.set(nonce, { until: performance.now() + ms, isOurs })
  }
  return {
    async take() {
      const counted = await count()
      const now = performance.now()
      for (const [nonce, { until }] of kept) if (until < now) kept.delete(nonce)
      let nonce = counted
      while (kept.has(nonce)) nonce += 1
      keep(nonce, true)
      return nonce
    },
    giveBack: (nonce) => void kept.delete(nonce),
    yieldTo: (nonce) => keep(nonce, false),
    isOurs: (nonce) => kept.get(nonce)?.isOurs ?? false,
  }
}
