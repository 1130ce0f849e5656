import { cpus, totalmem } from 'node:os'

/** One row of the result. */
export interface Figure {
  readonly what: string
  readonly value: string
  /** The bound that the value must meet, if there is one. */
  readonly bar?: string
  readonly isMet?: boolean
}

export type Unit = 's' | 'ms' | 'µs' | '/s' | 'MB' | 'times'

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
  unit: Unit,
  { most, least }: { readonly most?: number; readonly least?: number } = {},
): Figure {
  const digits = amount >= 100 ? 0 : amount >= 10 ? 1 : 2
  const measured = { what, value: `${amount.toFixed(digits)} ${unit}` }
  if (most !== undefined)
    return { ...measured, bar: `at most ${most} ${unit}`, isMet: amount <= most }
  if (least === undefined) return measured
  return { ...measured, bar: `at least ${least} ${unit}`, isMet: amount >= least }
}

/** Milliseconds of each piece of work, one after the other. */
export async function timesOf<T>(
  items: Iterable<T>,
  work: (item: T) => unknown,
): Promise<readonly number[]> {
  const times: number[] = []
  for (const item of items) {
    const startedAt = performance.now()
    await work(item)
    times.push(performance.now() - startedAt)
  }
  return times
}

/** The figures as a table that is readable in a terminal and as Markdown. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [
    ['What', 'Measured', 'Bar', 'Met'],
    ...figures.map(({ what, value, bar = '', isMet }) => [
      what,
      value,
      bar,
      isMet === undefined ? '' : isMet ? 'yes' : 'NO',
    ]),
  ]
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const [head = '', ...lines] = rows.map(
    (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`,
  )
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines].join('\n')
}

/** The machine and the date, for the head of the result. */
export function machine(): string {
  const processors = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const today = new Date().toISOString().slice(0, 10)
  return `${processors}, ${memory}, Node ${process.version}, ${today}`
}
