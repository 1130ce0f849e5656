import type { PlacedRule } from '../adapters/storage/selling-rules.ts'
import { csvLine } from '../lib/csv.ts'
import { Refused } from './operator.ts'
import { scopeText } from './selling-scopes.ts'

const columns = ['scope', 'effect', 'margin_bps', 'fixed_usd', 'text', 'until', 'reason'] as const

/** A rule as a person writes it, on a command line or in a line of a file. */
export type WantedRule = Readonly<Partial<Record<(typeof columns)[number] | 'line', string>>>

/** One rule a line: `\n` stands for a line break. */
export function ruleFileOf(rules: readonly PlacedRule[]): string {
  const lines = rules.map(({ scope, effect, until, reason }) => [
    ...[scopeText(scope), effect.type],
    ...('bps' in effect ? [effect.bps, (effect.cents / 100).toFixed(2)] : ['', '']),
    ...['text' in effect ? oneLine(effect.text) : '', until, oneLine(reason)],
  ])
  return [columns, ...lines].map(csvLine).join('')
}

function oneLine(text: string): string {
  return text.replace(/\r\n|\n|\r/g, '\\n')
}

/**
 * Of RFC 4180, as `csvLine` writes it, but no cell has several lines.
 *
 * @throws Refused for lines that are no rows of its columns
 */
export function readRuleFile(file: string): readonly WantedRule[] {
  const lines = file.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  const [names, ...rows] = lines.map(cellsOf)
  if (names?.join() !== columns.join())
    throw new Refused(`Line 1: it must name the columns: ${columns.join(',')}`)
  const read = rows
    .map((cells, at) => ({ cells, line: String(at + 2) }))
    .filter(({ cells }) => cells.join('') !== '')
  const faults = read
    .filter(({ cells }) => cells.length !== columns.length)
    .map(({ cells, line }) => `Line ${line}: it has ${cells.length} cells, not ${columns.length}.`)
  if (faults.length > 0) throw new Refused(faults.join('\n'))
  return read.map(({ cells, line }) => {
    return { line, ...Object.fromEntries(columns.map((name, at) => [name, cells[at]])) }
  })
}

function cellsOf(line: string): readonly string[] {
  const cells = `${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)
  return Array.from(cells, ([, raw = '']) => {
    const text = raw.startsWith('"') ? raw.slice(1, -1).replaceAll('""', '"') : raw
    return text
      .replace(/^'(?=[=+\-@\t\r])/, '')
      .replaceAll('\\n', '\n')
      .trim()
  })
}
