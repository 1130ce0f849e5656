import type { Usdc } from '../lib/money.ts'
import type { Funds } from './verdict.ts'

/** A purchase that the supplier refused because the wallet there does not suffice. */
export interface FundsRefusal {
  /** Ours, so that the same refusal counts once, whoever tells of it. */
  readonly reference: string
  readonly at: Date
  /** What the order costs; undefined while only the answer is known. */
  readonly amount?: Usdc
  /** What the supplier may have held meanwhile for orders that it released since. */
  readonly releasedSince?: Usdc
}

/** One refusal may be a purchase that was too large; with the second one the wallet is taken for empty. */
const maxRefusals = 2
const forgottenAfterMs = 60 * 60_000
/** After so long without a refusal one purchase is let through, whatever the balance reads. */
const triedAfterMs = 5 * 60_000

/**
 * Whether the supplier refuses purchases for want of funds although its balance reads otherwise: until a
 * balance is seen that is more, or that explains the refusals, or a purchase that is let through is
 * taken. The balance explains a refusal when it was less than that order and those that were open
 * beside it: otherwise buyers could stop the store by buying more at once than it holds.
 */
export interface FundsWatch {
  noteRefusal(refusal: FundsRefusal): void
  noteBalance(funds: Funds): void
  /** A purchase is sold under this reference. */
  noteSold(reference: string): void
  /** No order was opened under it after all. */
  noteUnsold(reference: string): void
  /** The supplier has delivered it. */
  noteTaken(reference: string): void
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
  /** The purchase that was let through last while the wallet was taken for empty. */
  let trial: { readonly reference: string; readonly at: number } | undefined

  function standing(): readonly Noted[] {
    const since = now().getTime() - forgottenAfterMs
    for (const [reference, { at }] of all) if (at.getTime() <= since) all.delete(reference)
    return [...all.values()].filter(({ isSettled }) => !isSettled)
  }

  const settle = (one: Noted) => all.set(one.reference, { ...one, isSettled: true })
  const isTakenForEmpty = () => standing().length >= maxRefusals

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
        const { amount, releasedSince = 0n } = one
        if (amount === undefined) continue
        // A balance that is seen not to suffice bounds purchases by itself.
        if (isMore || available < committed + releasedSince + amount) settle(one)
      }
    },
    noteSold(reference) {
      if (isTakenForEmpty()) trial = { reference, at: now().getTime() }
    },
    noteUnsold(reference) {
      if (trial?.reference === reference) trial = undefined
    },
    noteTaken(reference) {
      if (trial?.reference === reference) for (const one of standing()) settle(one)
    },
    isRefused() {
      if (!isTakenForEmpty()) return false
      const last = Math.max(trial?.at ?? 0, ...standing().map(({ at }) => at.getTime()))
      return now().getTime() - last < triedAfterMs
    },
  }
}
