import { styleText } from 'node:util'
import { usdcText } from './money.ts'

/** What a step says while it runs. */
export interface Teller {
  /** Whether escape codes may be used. */
  readonly colours: boolean
  fact(label: string, value: string): void
  /** Something that goes on, so that a wait is no silence. */
  note(text: string): void
  /** Lines that are already laid out. */
  block(text: string): void
}

export interface StepTitle {
  /** As JSON lines name it. */
  readonly name: string
  readonly title: string
}

/** What a step came to; amounts in atomic USDC. */
interface StepReport {
  readonly before: bigint
  readonly after: bigint
  /** For the JSON line: strings, numbers and lists, no bigint. */
  readonly data: Readonly<Record<string, unknown>>
}

/** One way to show the demo. */
export interface Printer extends Teller {
  begin(step: StepTitle, place: { readonly number: number; readonly of: number }): void
  end(step: StepTitle, report: StepReport): void
  fail(name: string, error: string): void
}

type Write = (text: string) => void

/** For people. `colours` decides about escape codes; without it the output is plain text. */
export function humanPrinter(write: Write, colours: boolean): Printer {
  const styled = (style: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text
  const fact = (label: string, value: string) =>
    write(`     ${styled('dim', label.padEnd(12))} ${value}\n`)
  return {
    colours,
    fact,
    note: (text) => write(`     ${styled('dim', `… ${text}`)}\n`),
    block: (text) => write(`${text.replaceAll(/^(?=.)/gm, '     ')}\n`),
    begin: ({ title }, { number, of }) =>
      write(`\n${styled('dim', `${number}/${of}`)}  ${styled('bold', title)}\n`),
    end: (_, { before, after }) =>
      fact('Wallet', styled('green', `${usdcText(before)} → ${usdcText(after)} USDC`)),
    fail: (_, error) => write(`\n${styled('red', '✗')}  ${error}\n\n`),
  }
}

/** For programs: exactly one line a step, and nothing else. */
export function jsonPrinter(write: Write): Printer {
  const line = (record: object) => write(`${JSON.stringify(record)}\n`)
  const silent = () => {}
  return {
    colours: false,
    fact: silent,
    note: silent,
    block: silent,
    begin: silent,
    end: ({ name }, { before, after, data }) =>
      line({
        step: name,
        ok: true,
        usdcBefore: usdcText(before),
        usdcAfter: usdcText(after),
        ...data,
      }),
    fail: (name, error) => line({ step: name, ok: false, error }),
  }
}

/** Colours are for a terminal whose user did not switch them off (no-color.org). */
export function wantsColours(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env['NO_COLOR']
}

/** Columns as wide as their widest cell; the first `left` columns begin left, the rest end right. */
export function table(rows: readonly (readonly string[])[], left: number): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const cell = (text: string, column: number) => {
    const width = widths[column] ?? 0
    return column < left ? text.padEnd(width) : text.padStart(width)
  }
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n')
}
