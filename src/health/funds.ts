import type { Usdc } from '../lib/money.ts'
import type { Funds } from './verdict.ts'

/** A purchase that the supplier refused for insufficient funds in the store's wallet there. */
export interface FundsRefusal {
  /** The store's own reference of the purchase, so that a refusal reported twice counts once. */
  readonly reference: string
  readonly at: Date
  /** The price of the order; undefined until the record has been read. */
  readonly amount?: Usdc
  /** The amount that the supplier may have reserved for other orders at that time and released since. */
  readonly releasedSince?: Usdc
}

/** One refusal may be a purchase that was too large. After the second the wallet counts as empty. */
const maxRefusals = 2
const forgetAfterMs = 60 * 60_000
/** After this long without a refusal one trial purchase is allowed, regardless of the balance. */
const trialAfterMs = 5 * 60_000

interface NotedRefusal extends FundsRefusal {
  /** Whether a later balance was higher or explained the refusal. */
  readonly isSettled: boolean
}

/**
 * Detects that the supplier refuses purchases for insufficient funds although the balance looks
 * sufficient. This ends with a higher balance, a balance that explains the refusals, or a successful
 * trial purchase. A balance explains a refusal when it did not cover that order and the orders open at the
 * same time. Without this rule, buyers could stop the store by buying more at once than the wallet holds.
 */
export function watchFunds(now: () => Date) {
  const all = new Map<string, NotedRefusal>()
  let lastBalance: Usdc | undefined
  /** The last balance before the newest refusal; undefined when none was known. */
  let insufficient: Usdc | undefined
  /** The last trial purchase. */
  let trial: { readonly reference: string; readonly at: number } | undefined

  function unexplained(): readonly NotedRefusal[] {
    const since = now().getTime() - forgetAfterMs
    for (const [reference, { at }] of all) if (at.getTime() <= since) all.delete(reference)
    return [...all.values()].filter(({ isSettled }) => !isSettled)
  }

  const settle = (one: NotedRefusal) => all.set(one.reference, { ...one, isSettled: true })
  const seemsEmpty = () => unexplained().length >= maxRefusals

  return {
    noteRefusal(refusal: FundsRefusal) {
      const known = all.get(refusal.reference)
      if (!known) insufficient = lastBalance
      all.set(refusal.reference, { ...refusal, isSettled: known?.isSettled ?? false })
    },
    noteBalance({ available, committed }: Funds) {
      lastBalance = available
      const isMore = insufficient === undefined || available > insufficient
      for (const one of unexplained()) {
        const { amount, releasedSince = 0n } = one
        if (amount === undefined) continue
        // An insufficient balance limits purchases by itself.
        if (isMore || available < committed + releasedSince + amount) settle(one)
      }
    },
    /** A purchase was sold under this reference. */
    noteSold(reference: string) {
      if (seemsEmpty()) trial = { reference, at: now().getTime() }
    },
    /** The sale did not become an order. */
    noteUnsold(reference: string) {
      if (trial?.reference === reference) trial = undefined
    },
    /** The supplier delivered this purchase. */
    noteTaken(reference: string) {
      if (trial?.reference === reference) for (const one of unexplained()) settle(one)
    },
    isRefused(): boolean {
      if (!seemsEmpty()) return false
      const last = Math.max(trial?.at ?? 0, ...unexplained().map(({ at }) => at.getTime()))
      return now().getTime() - last < trialAfterMs
    },
  }
}
