import type { Outcome } from './run.ts'

const hourMs = 3_600_000

/** Adds up the counts of runs, for tables of what happened and how orders ended. */
export function newTally() {
  const totals = new Map<string, number>()
  const counts = new Map<string, number>()
  const ends = new Map<string, number>()

  function add(outcome: Outcome): void {
    raise(totals, 'seeds', 1)
    raise(totals, 'orders', outcome.orders)
    raise(totals, 'virtual hours', outcome.virtualMs / hourMs)
    raise(totals, 'violations', outcome.violations.length)
    for (const [what, times] of outcome.counts) if (isTold(what)) raise(counts, what, times)
    for (const [end, times] of outcome.ends) raise(ends, end, times)
  }

  return {
    add,
    table: () =>
      [rows('what', totals), rows('happened', counts), rows('ended as', ends)].join('\n\n'),
  }
}

/** Leaves out the answers to buyers. */
function isTold(what: string): boolean {
  return !what.startsWith('heard')
}

function raise(sums: Map<string, number>, what: string, by: number): void {
  sums.set(what, (sums.get(what) ?? 0) + by)
}

function rows(title: string, sums: ReadonlyMap<string, number>): string {
  const lines = [...sums]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([what, times]) => `| ${what} | ${Math.round(times).toLocaleString('en')} |`)
  return [`| ${title} | times |`, '|---|---|', ...lines].join('\n')
}
