import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Span } from '../adapters/storage/books.ts'
import { messageOf } from '../lib/errors.ts'
import {
  type Book,
  type BookFormat,
  type BookRow,
  bookRows,
  books,
  bookText,
} from '../operator/books.ts'
import { closeMonth, type Month, spanOfMonth } from '../operator/month.ts'
import {
  type Act,
  type Context,
  parseArguments,
  type Result,
  UsageError,
  unknownWord,
} from './act.ts'
import { daysIn } from './days.ts'
import { withSources } from './reconcile.ts'

const usage = `Usage: kiosk402 export orders|ledger [--month MONTH | --from DAY --to DAY] [--out FILE]
       kiosk402 export month MONTH [--out FILE]

Writes the books as CSV, or with --json as JSON. docs/operators/books.md names every column.

  orders        one row an order that was placed in this time: price, cost, margin, gas, refunds, VAT
  ledger        one row an entry that was booked in this time; those of each order sum to zero
  month         one row an account, and whether the month closes against chain, suppliers and BTCPay

  --month MONTH in UTC: 2026-10
  --from, --to  days in UTC, both included; without them, everything
  --out FILE    a file that only this account can read; otherwise to standard output

"export month" exits with 1 if the month does not close, and says why.

Examples:
  kiosk402 export orders --month 2026-10 --out orders-2026-10.csv
  kiosk402 export ledger --from 2026-10-01 --to 2026-10-07 --json
  kiosk402 export month 2026-10 --out month-2026-10.csv`

interface Wanted {
  readonly book: Book | 'month'
  readonly month: string
  readonly span: Span
  readonly out: string | undefined
}

export const exportAct: Act = {
  summary: 'orders, ledger and months for the books, as CSV or JSON',
  usage,
  async run(args, context) {
    const wanted = wantedIn(args, new Date())
    const { book, span, out } = wanted
    if (context.isDryRun) {
      const line = `It would write the ${book} to ${out ?? 'standard output'}.`
      return { exit: 0, data: { dryRun: line }, lines: [line] }
    }
    if (book === 'month') return exportMonth(wanted, context)
    return context.withOperator((operator) => write(bookRows(operator, book, span), out, context))
  },
}

async function exportMonth({ month, out }: Wanted, context: Context): Promise<Result> {
  const closed = await context.withOperator((operator) =>
    withSources(context, (sources, look) => closeMonth(operator, sources, look, month)),
  )
  const { why, silent } = closed
  const exit = why.length > silent.length ? 1 : why.length > 0 ? 2 : 0
  if (out === undefined && context.isJson) return { exit, data: closed, lines: [] }
  for (const line of verdict(closed)) context.tell(line)
  const pages = (async function* () {
    yield closed.rows
  })()
  return { ...(await write(pages, out, context)), exit }
}

function verdict({ month, isOver, closes, why }: Month): readonly string[] {
  const name = isOver ? month : `${month} so far`
  return closes ? [`${name} closes.`] : [`${name} does not close:`, ...why.map((one) => `  ${one}`)]
}

/** A file is there whole or not at all. */
async function write(
  pages: AsyncIterable<readonly BookRow[]>,
  out: string | undefined,
  { isJson }: Context,
): Promise<Result> {
  const format: BookFormat = isJson ? 'json' : 'csv'
  let rows = 0
  const counted = async function* () {
    for await (const page of pages) {
      rows += page.length
      yield page
    }
  }
  const text = Readable.from(bookText(counted(), format), { highWaterMark: 1 })
  if (out === undefined) {
    await pipeline(text, process.stdout, { end: false })
    return { exit: 0, data: undefined, lines: [] }
  }
  const part = `${out}.part`
  try {
    await pipeline(text, createWriteStream(part, { mode: 0o600 }))
    await rename(part, out)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
  return { exit: 0, data: { file: out, rows }, lines: [`${rows} rows are in ${out}.`] }
}

const all: Span = { from: new Date(0), to: new Date('9999-01-01') }

function wantedIn(args: readonly string[], now: Date): Wanted {
  const text = { type: 'string' } as const
  const options = { month: text, from: text, to: text, out: text }
  const { values, positionals } = parseArguments({
    args: [...args],
    options,
    allowPositionals: true,
  })
  const [book = '', named, ...more] = positionals
  const known = [...books, 'month'] as const
  const isKnown = (word: string): word is Wanted['book'] => known.some((one) => one === word)
  if (book === '') throw new UsageError(`Say what to export: ${known.join(', ')}`)
  if (!isKnown(book)) throw new UsageError(unknownWord(book, known))
  if (more.length > 0 || (named !== undefined && book !== 'month')) {
    throw new UsageError(`${book} takes nothing else, and got ${positionals.slice(1).join(', ')}`)
  }
  const { out, month = named ?? '', ...days } = values
  const { from = all.from, to = all.to } = daysIn(days)
  if (book === 'month' || month !== '') return { book, month, span: monthIn(month, now), out }
  return { book, month, span: { from, to }, out }
}

function monthIn(month: string, now: Date): Span {
  try {
    return spanOfMonth(month, now)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
