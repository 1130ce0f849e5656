import type { Usdc } from '../lib/money.ts'
import { type FundsRefusal, type FundsWatch, watchFunds } from './funds.ts'
import { healthOf, keepOutcomes, type Outcomes, type Tally } from './signals.ts'
import type { Means, SupplierFacts } from './verdict.ts'

/** The recent health, funds and sales of each supplier that has been checked. */
export interface SupplierBook {
  note(name: string, ok: boolean, detail?: string): void
  noteMeans(means: Means): void
  noteRefusal(name: string, refusal: FundsRefusal): void
  noteTaken(name: string, reference: string): void
  noteSold(name: string, reference: string): void
  noteUnsold(reference: string): void
  names(): readonly string[]
  /** @param sold its sales that the means do not include yet */
  factsOf(name: string, means: Means | undefined, sold: Usdc): SupplierFacts
  tallies(): ReadonlyMap<string, Tally>
}

interface Kept {
  readonly calls: Outcomes
  readonly funds: FundsWatch
}

export function keepSuppliers(now: () => Date): SupplierBook {
  const all = new Map<string, Kept>()

  function of(name: string): Kept {
    const kept = all.get(name) ?? { calls: keepOutcomes(now), funds: watchFunds(now) }
    all.set(name, kept)
    return kept
  }

  return {
    note: (name, ok, detail) => of(name).calls.note(ok, detail),
    noteMeans({ funds }) {
      for (const [name, seen] of funds) {
        const watch = of(name).funds
        if (seen !== 'unbounded') watch.noteBalance(seen)
      }
    },
    noteRefusal: (name, refusal) => of(name).funds.noteRefusal(refusal),
    noteTaken: (name, reference) => of(name).funds.noteTaken(reference),
    noteSold: (name, reference) => of(name).funds.noteSold(reference),
    noteUnsold(reference) {
      for (const { funds } of all.values()) funds.noteUnsold(reference)
    },
    names: () => [...all.keys()],
    factsOf(name, means, sold) {
      const kept = all.get(name)
      return {
        health: healthOf(kept?.calls.recent() ?? []),
        funds: means?.funds.get(name),
        isRefusedForFunds: kept?.funds.isRefused() ?? false,
        sold,
      }
    },
    tallies: () => new Map(Array.from(all, ([name, { calls }]) => [name, calls.tally()])),
  }
}
