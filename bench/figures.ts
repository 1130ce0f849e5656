/** The value below which that share of the samples lies: 0.5 is the median. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other)
  const at = Math.min(sorted.length - 1, Math.floor(share * sorted.length))
  return sorted[at] ?? Number.NaN
}

export interface Figure {
  readonly what: string
  readonly value: string
  /** More of what was measured with it, each in a column of its own. */
  readonly details?: Readonly<Record<string, string>>
  /** The bar that the figure is held to, if there is one. */
  readonly bar?: string
  readonly held?: boolean
  /**
   * Which change of it is for the better. Only what compares two things of one run has this: it
   * means the same on every machine, so it can be compared with what was measured before. It is
   * found there by `what`, which no other figure of the page may have then.
   */
  readonly better?: 'less' | 'more'
  /** How to read it, where its name does not say it all. */
  readonly note?: string
}

/** What one section measured. */
export type Figures = readonly Figure[]

export type Unit = 's' | 'ms' | 'µs' | '/s' | 'MB' | 'kB'

export function figure(what: string, amount: number, unit: Unit, most?: number): Figure {
  const value = amountOf(amount, unit)
  return most === undefined
    ? { what, value }
    : { what, value, bar: `under ${most} ${unit}`, held: amount < most }
}

/** An amount with the digits that matter, and its unit. */
export function amountOf(amount: number, unit: Unit | 'times' | '%'): string {
  const digits = amount >= 100 ? 0 : amount >= 10 ? 1 : 2
  return `${amount.toFixed(digits)} ${unit}`
}

/** How many times the one is of the other, measured in one run; the less, the better. */
export function ratio(what: string, times: number, most?: number): Figure {
  const measured = { what, value: `${times.toFixed(2)} times`, better: 'less' } as const
  return most === undefined
    ? measured
    : { ...measured, bar: `at most ${most}`, held: times <= most }
}

/** How many times the one is ahead of the other, measured in one run; the more, the better. */
export function lead(what: string, times: number, least?: number): Figure {
  const measured = { what, value: amountOf(times, 'times'), better: 'more' } as const
  return least === undefined
    ? measured
    : { ...measured, bar: `at least ${least} times`, held: times >= least }
}

/** How much of the other the one reaches, as percent of it; the more, the better. */
export function reach(what: string, share: number, minPercent?: number): Figure {
  const measured = { what, value: amountOf(share * 100, '%'), better: 'more' } as const
  return minPercent === undefined
    ? measured
    : { ...measured, bar: `at least ${minPercent} %`, held: share * 100 >= minPercent }
}
