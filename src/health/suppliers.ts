import type { Usdc } from '../lib/money.ts'
import { type FundsRefusal, type FundsWatch, watchFunds } from './funds.ts'
import { healthOf, keepOutcomes, type Outcomes } from './signals.ts'
import type { Means, SupplierFacts } from './verdict.ts'

interface Kept {
  readonly calls: Outcomes
  readonly funds: FundsWatch
}

/** The recent health, funds and sales of each supplier that has been checked. */
export function keepSuppliers(now: () => Date) {
  const all = new Map<string, Kept>()

  function of(name: string): Kept {
    const kept = all.get(name) ?? { calls: keepOutcomes(now), funds: watchFunds(now) }
    all.set(name, kept)
    return kept
  }

  return {
    note: (name: string, ok: boolean, detail?: string) => of(name).calls.note(ok, detail),
    noteMeans({ funds }: Means) {
      for (const [name, seen] of funds) {
        const watch = of(name).funds
        if (seen !== 'unbounded') watch.noteBalance(seen)
      }
    },
    noteRefusal: (name: string, refusal: FundsRefusal) => of(name).funds.noteRefusal(refusal),
    noteTaken: (name: string, reference: string) => of(name).funds.noteTaken(reference),
    noteSold: (name: string, reference: string) => of(name).funds.noteSold(reference),
    noteUnsold(reference: string) {
      for (const { funds } of all.values()) funds.noteUnsold(reference)
    },
    names: (): readonly string[] => [...all.keys()],
    /** @param sold its sales that the means do not include yet */
    factsOf(name: string, means: Means | undefined, sold: Usdc): SupplierFacts {
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
