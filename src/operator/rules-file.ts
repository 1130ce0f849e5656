import { type Effect, effectTypes } from '../catalog/selling-rules.ts'
import { csvLine } from '../lib/csv.ts'
import type { RuleData, WantedRule } from './selling.ts'

/** `rule`, `by` and `at` are for reading; a file that is read need not have them. */
const columns = [
  ...(['scope', 'effect', 'margin_bps', 'fixed_usd', 'text', 'until', 'reason'] as const),
  ...(['rule', 'by', 'at'] as const),
]

type Cells = Readonly<Partial<Record<(typeof columns)[number], string>>>

/** One rule a line: `\n` stands for a line break. */
export function ruleFileOf(rules: readonly RuleData[]): string {
  const oneLine = (text = '') => text.replace(/\r\n|\n|\r/g, '\\n')
  const lines = rules.map(({ marginBps, fixedUsd, text, reason, ...own }) => {
    const texts = { text: oneLine(text), reason: oneLine(reason) }
    const cells = { ...own, ...texts, margin_bps: marginBps, fixed_usd: fixedUsd }
    return csvLine(columns.map((column) => cells[column]))
  })
  return csvLine(columns) + lines.join('')
}

export interface ReadRules {
  readonly wanted: readonly WantedRule[]
  /** All that is wrong with the file, with the lines. */
  readonly faults: readonly string[]
}

export function readRuleFile(file: string): ReadRules {
  const [head, ...rows] = rowsOf(file)
  const names = head?.cells ?? []
  const unknown = names.find((name) => !columns.some((column) => column === name))
  if (unknown !== undefined || !['scope', 'effect'].every((name) => names.includes(name))) {
    return { wanted: [], faults: [`Line 1: it must name the columns: ${columns.join(', ')}.`] }
  }
  const wanted: WantedRule[] = []
  const faults: string[] = []
  for (const { cells, line } of rows) {
    const isWhole = cells.length === names.length
    const one = isWhole
      ? wantedIn(Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])), line)
      : `it has ${cells.length} cells instead of ${names.length}.`
    if (typeof one === 'string') faults.push(`Line ${line}: ${one}`)
    else wanted.push(one)
  }
  return { wanted, faults }
}

function wantedIn(cells: Cells, line: number): WantedRule | string {
  const { scope = '', reason = '', until = '' } = cells
  const effect = effectIn(cells)
  if (typeof effect === 'string') return effect
  const end = until === '' ? undefined : new Date(until)
  if (end !== undefined && Number.isNaN(end.getTime())) return `"${until}" is no time.`
  return { scope, effect, until: end, reason, line }
}

function effectIn(cells: Cells): Effect | string {
  const { effect, margin_bps: bps = '', fixed_usd: usd = '', text = '' } = cells
  const type = effectTypes.find((one) => one === effect)
  switch (type) {
    case undefined:
      return `"${effect}" is no effect: ${effectTypes.join(', ')}.`
    case 'margin':
    case 'least_margin':
      return /^-?\d+$/.test(bps) && /^(-?\d+(\.\d{1,2})?)?$/.test(usd)
        ? { type, bps: Number(bps), cents: Math.round(Number(usd) * 100) }
        : 'margin_bps must be a whole number, and fixed_usd dollars and cents.'
    case 'name':
    case 'description':
    case 'picture':
      return { type, text }
    default:
      return { type }
  }
}

/** Of RFC 4180, as `csvLine` writes it, but no cell has several lines. */
function rowsOf(file: string): { readonly cells: readonly string[]; readonly line: number }[] {
  const lines = file.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  return lines
    .map((text, at) => ({ cells: cellsOf(text), line: at + 1 }))
    .filter(({ cells }) => cells.join('') !== '')
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
