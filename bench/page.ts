import type { Compared } from './regressions.ts'

/** A section of the page: its title and its figures. */
export interface Part {
  readonly title: string
  readonly figures: readonly Compared[]
}

/** The text of docs/contributors/benchmarks.md. */
export function pageOf(header: string, parts: readonly Part[]): string {
  const first = `# Benchmarks\n\nWritten by \`npm run bench\`. ${header}\n`
  return [first, ...parts.map(partOf)].join('\n')
}

/** One section, with its table and its notes. */
export function partOf({ title, figures }: Part): string {
  const notes = notesOf(figures)
  return `## ${title}\n\n${tableOf(figures)}\n${notes === '' ? '' : `\n${notes}\n`}`
}

/**
 * The figures as a table that is readable in a terminal and as Markdown. Columns without any value are
 * left out.
 */
function tableOf(figures: readonly Compared[]): string {
  const details = [...new Set(figures.flatMap((figure) => Object.keys(figure.details ?? {})))]
  const columns: [string, (figure: Compared) => string | undefined][] = [
    ['What', ({ what }) => what],
    ...details.map((name): (typeof columns)[number] => [name, (row) => row.details?.[name]]),
    ['Measured', ({ value }) => value],
    ['Bar', ({ bar }) => bar],
    ['Held', ({ held }) => (held === undefined ? undefined : held ? 'yes' : 'NO')],
    ['Last time', ({ last }) => last],
  ]
  const filled = columns
    .map(([name, cellOf]) => [name, ...figures.map((figure) => cellOf(figure) ?? '')])
    .filter(([, ...cells]) => cells.some((cell) => cell !== ''))
  const widths = filled.map((cells) => Math.max(...cells.map((cell) => cell.length)))
  const rowOf = (at: number) =>
    `| ${filled.map((cells, column) => (cells[at] ?? '').padEnd(widths[column] ?? 0)).join(' | ')} |`
  const line = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [rowOf(0), line, ...figures.map((_, at) => rowOf(at + 1))].join('\n')
}

function notesOf(figures: readonly Compared[]): string {
  return figures
    .flatMap(({ what, note }) => (note === undefined ? [] : [`- **${what}.** ${note}`]))
    .join('\n')
}
