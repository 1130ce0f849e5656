/** A row of the result; a figure without a bar has no last two cells. */
export type Figure = readonly [what: string, value: string, bar?: string, isMet?: string]

/** The value below which this share of the samples lies; 0.5 gives the median. NaN without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}

export function figure(
  what: string,
  amount: number,
  unit: 's' | 'ms' | '/s' | 'MB' | 'times',
  { most, least }: { readonly most?: number | undefined; readonly least?: number } = {},
): Figure {
  const value = `${amount.toFixed(amount >= 100 ? 0 : amount >= 10 ? 1 : 2)} ${unit}`
  if (most !== undefined)
    return [what, value, `at most ${most} ${unit}`, amount <= most ? 'yes' : 'NO']
  if (least === undefined) return [what, value]
  return [what, value, `at least ${least} ${unit}`, amount >= least ? 'yes' : 'NO']
}

/** Milliseconds of each piece of work, one after the other. */
export async function timesOf<T>(items: Iterable<T>, work: (item: T) => unknown) {
  const times: number[] = []
  for (const item of items) {
    const startedAt = performance.now()
    await work(item)
    times.push(performance.now() - startedAt)
  }
  return times
}

const widths = [58, 10, 16, 3]

/** The figures as a table that is readable in a terminal and as Markdown. */
export function tableOf(figures: readonly Figure[]): string {
  const rule = widths.map((width) => '-'.repeat(width))
  return [['What', 'Measured', 'Bar', 'Met'], rule, ...figures]
    .map((row) => `| ${widths.map((width, at) => (row[at] ?? '').padEnd(width)).join(' | ')} |`)
    .join('\n')
}
