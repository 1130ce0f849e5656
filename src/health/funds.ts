import type { Usdc } from '../primitives/money.ts'
import type { Funds } from './verdict.ts'

/** A purchase that the supplier refused because the wallet there does not suffice. */
export interface FundsRefusal {
  /** Ours, so that the same refusal counts once, whoever tells of it. */
  readonly reference: string
  readonly at: Date
  /** What the order costs; undefined while only the answer is known. */
  readonly amount?: Usdc
}

/** One refusal may be a purchase that was too large; with the second one the wallet is taken for empty. */
const refusalsMost = 2
/** After so long it is tried again, whatever the balance reads. */
const forgottenAfterMs = 60 * 60_000

/**
 * Whether the supplier refuses purchases for want of funds although its balance reads otherwise: until a
 * balance is seen that is more, or that explains the refusals.
 */
export interface FundsWatch {
  noteRefusal(refusal: FundsRefusal): void
  noteBalance(funds: Funds): void
  isRefused(): boolean
}

interface Noted extends FundsRefusal {
  /** Whether a balance was seen since that is more, or that explains it. */
  readonly isSettled: boolean
}

export function watchFunds(now: () => Date): FundsWatch {
  const all = new Map<string, Noted>()
  let seen: Usdc | undefined
  /** The balance that did not suffice, as it was seen last before; undefined where none was. */
  let insufficient: Usdc | undefined

  function standing(): readonly Noted[] {
    const since = now().getTime() - forgottenAfterMs
    for (const [reference, { at }] of all) if (at.getTime() <= since) all.delete(reference)
    return [...all.values()].filter(({ isSettled }) => !isSettled)
  }

  return {
    noteRefusal(refusal) {
      const known = all.get(refusal.reference)
      if (!known) insufficient = seen
      all.set(refusal.reference, { ...refusal, isSettled: known?.isSettled ?? false })
    },
    noteBalance({ available, committed }) {
      seen = available
      const isMore = insufficient === undefined || available > insufficient
      for (const one of standing()) {
        if (one.amount === undefined) continue
        // A balance that is seen not to suffice bounds purchases by itself.
        const isExplained = available < committed + one.amount
        if (isMore || isExplained) all.set(one.reference, { ...one, isSettled: true })
      }
    },
    isRefused: () => standing().length >= refusalsMost,
  }
}
