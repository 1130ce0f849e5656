/** The value below which that share of the samples lies: 0.5 is the median. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other)
  const at = Math.min(sorted.length - 1, Math.floor(share * sorted.length))
  return sorted[at] ?? Number.NaN
}

export interface Figure {
  readonly what: string
  readonly value: string
  /** The bar that the figure is held to, if there is one. */
  readonly bar?: string
  readonly held?: boolean
  /** How to read it, where its name does not say it all. */
  readonly note?: string
}

export function figure(
  what: string,
  amount: number,
  unit: 's' | 'ms' | 'µs' | '/s' | 'MB',
  most?: number,
): Figure {
  const digits = amount >= 100 ? 0 : amount >= 10 ? 1 : 2
  const value = `${amount.toFixed(digits)} ${unit}`
  return most === undefined
    ? { what, value }
    : { what, value, bar: `under ${most} ${unit}`, held: amount < most }
}

/** How many times the one is of the other, measured in one run. */
export function ratio(what: string, times: number, most?: number): Figure {
  const value = `${times.toFixed(2)} times`
  return most === undefined
    ? { what, value }
    : { what, value, bar: `at most ${most}`, held: times <= most }
}

/** Likewise, where more is better. */
export function ratioOfAtLeast(what: string, times: number, least: number): Figure {
  const value = `${times.toFixed(2)} times`
  return { what, value, bar: `at least ${least}`, held: times >= least }
}

/** The figures as a table that reads well in a terminal and as Markdown. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, value, bar, held }) => [
    what,
    value,
    bar ?? '',
    held === undefined ? '' : held ? 'yes' : 'NO',
  ])
  return [
    '| What | Measured | Bar | Held |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}

/** How to read those that need words, as a list. */
export function notes(figures: readonly Figure[]): string {
  return figures
    .flatMap(({ what, note }) => (note === undefined ? [] : [`- **${what}.** ${note}`]))
    .join('\n')
}
