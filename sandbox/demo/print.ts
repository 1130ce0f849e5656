import { styleText } from 'node:util'
import { usdcText } from './money.ts'

/** Prints the messages of a step while it runs. */
export interface Teller {
  /** Whether escape codes may be used. */
  readonly colours: boolean
  fact(label: string, value: string): void
  /** A message about progress, so that waits are not silent. */
  note(text: string): void
  /** Lines that are already formatted. */
  block(text: string): void
}

export interface StepTitle {
  /** Its name in the JSON lines. */
  readonly name: string
  readonly title: string
}

/** The result of a step; amounts in atomic USDC. */
interface StepReport {
  readonly before: bigint
  readonly after: bigint
  /** The data of its JSON line: strings, numbers and lists, no bigint. */
  readonly data: Readonly<Record<string, unknown>>
}

/** One way to show the demo. */
export interface Printer extends Teller {
  begin(step: StepTitle, place: { readonly number: number; readonly of: number }): void
  end(step: StepTitle, report: StepReport): void
  fail(name: string, error: string): void
}

type Write = (text: string) => void

/** For people. Without `colours` the output is plain text, without escape codes. */
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

/** For programs: exactly one line of JSON for each step, and nothing else. */
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

/** Whether to use colours: on a terminal, unless its user has disabled them (no-color.org). */
export function wantsColours(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !env['NO_COLOR']
}

/**
 * A table with columns as wide as their widest cell. The first `left` columns are left-aligned, the others
 * right-aligned.
 */
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
