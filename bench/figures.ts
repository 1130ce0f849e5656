/** The value below which this share of the samples lies; 0.5 gives the median. NaN without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other)
  const at = Math.min(sorted.length - 1, Math.floor(share * sorted.length))
  return sorted[at] ?? Number.NaN
}

export interface Figure {
  readonly what: string
  readonly value: string
  /** Further measurements, each in a column of its own. */
  readonly details?: Readonly<Record<string, string>>
  /** The bar that the figure must meet, if there is one. */
  readonly bar?: string
  readonly held?: boolean
  /**
   * Which direction is better. Only for figures that compare two things of one run: they mean the same on
   * every machine, so they can be compared with the last run. They are found there by `what`, which must
   * then be unique on the page.
   */
  readonly better?: 'less' | 'more'
  /** How to read it, if its name does not say enough. */
  readonly note?: string
}

/** The figures of one section. */
export type Figures = readonly Figure[]

export type Unit = 's' | 'ms' | 'µs' | '/s' | 'MB' | 'kB'

export function figure(what: string, amount: number, unit: Unit, most?: number): Figure {
  const value = amountOf(amount, unit)
  return most === undefined
    ? { what, value }
    : { what, value, bar: `under ${most} ${unit}`, held: amount < most }
}

/** An amount with its unit: two decimals below 10, one below 100, none above. */
export function amountOf(amount: number, unit: Unit | 'times' | '%'): string {
  const digits = amount >= 100 ? 0 : amount >= 10 ? 1 : 2
  return `${amount.toFixed(digits)} ${unit}`
}

/** One measurement divided by another of the same run; less is better. */
export function ratio(what: string, times: number, most?: number): Figure {
  const measured = { what, value: `${times.toFixed(2)} times`, better: 'less' } as const
  return most === undefined
    ? measured
    : { ...measured, bar: `at most ${most}`, held: times <= most }
}

/** How many times one is ahead of another in the same run; more is better. */
export function lead(what: string, times: number, least?: number): Figure {
  const measured = { what, value: amountOf(times, 'times'), better: 'more' } as const
  return least === undefined
    ? measured
    : { ...measured, bar: `at least ${least} times`, held: times >= least }
}

/** One measurement in percent of another of the same run; more is better. */
export function reach(what: string, share: number, minPercent?: number): Figure {
  const measured = { what, value: amountOf(share * 100, '%'), better: 'more' } as const
  return minPercent === undefined
    ? measured
    : { ...measured, bar: `at least ${minPercent} %`, held: share * 100 >= minPercent }
}
