/** Hands out the transaction nonces of one account. */
export interface AccountNonces {
  /** The lowest nonce that is free as far as is known. It stays reserved until it is given back. */
  take(): Promise<number>
  /** Releases a nonce: from now on, the node's count decides about it. */
  giveBack(nonce: number): void
  /** Another process with the same key has a transaction under this nonce. */
  yieldTo(nonce: number): void
  /** Whether a transaction of this process is on its way under this nonce. */
  isOurs(nonce: number): boolean
}

/** A nonce is reserved no longer than this, so that no gap can last for ever. */
const maxKeptMs = 30_000
/** How long the node's count may lag behind a nonce that another process has taken. */
const maxYieldedMs = 5_000

/**
 * The node's count alone would give two concurrent settlements the same nonce. A counter kept here would
 * be wrong as soon as a transaction is dropped, or another process sends with the same key. So the node's
 * count is read each time, and only the nonces in use are kept here.
 *
 * @param count how many transactions of the account the node knows, pending ones included
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
