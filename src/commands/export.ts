import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import type { Span } from '../adapters/storage/books.ts'
import { messageOf } from '../lib/errors.ts'
import { type BookRow, bookRows, books, bookText } from '../operator/books.ts'
import { closeMonth, type Month, spanOfMonth } from '../operator/month.ts'
import {
  type Act,
  type Context,
  parseArguments,
  type Result,
  UsageError,
  unknownWord,
} from './act.ts'
import { usualLook, withSources } from './reconcile.ts'

const usage = `Usage: kiosk402 export orders|ledger [MONTH]
       kiosk402 export month MONTH

Writes the books as CSV, or with --json as JSON. docs/operators/books.md names every column.

  orders        one row an order that was placed in this month: price, cost, margin, gas, refunds, VAT
  ledger        one row an entry that was booked in this month; those of each order sum to zero
  month         one row an account, and whether the month closes against chain, suppliers and BTCPay

A month is one in UTC, 2026-10; without it, orders and ledger are those of all time. "export month" exits with
1 if the month does not close, and says why.

Examples:
  kiosk402 export orders 2026-10 >orders-2026-10.csv
  kiosk402 export ledger --json
  kiosk402 export month 2026-10 >month-2026-10.csv`

export const exportAct: Act = {
  summary: 'orders, ledger and months for the books, as CSV or JSON',
  usage,
  async run(args, context) {
    const { book, month, span } = wantedIn(args, new Date())
    // It collects garbage at once, for the store beside it: a million orders take 20 MB and not 120.
    setFlagsFromString('--optimize-for-size')
    if (book === 'month') return exportMonth(month, context)
    return context.withOperator((operator) => write(bookRows(operator, book, span), context))
  },
}

async function exportMonth(month: string, context: Context): Promise<Result> {
  const closed = await context.withOperator((operator) =>
    withSources(operator, usualLook, (sources, look) =>
      closeMonth(operator, sources, look(), month),
    ),
  )
  const { why, silent } = closed
  const exit = why.length > silent.length ? 1 : why.length > 0 ? 2 : 0
  if (context.isJson) return { exit, data: closed, lines: [] }
  for (const line of verdict(closed)) context.tell(line)
  const pages = (async function* () {
    yield closed.rows
  })()
  return { ...(await write(pages, context)), exit }
}

function verdict({ month, isOver, closes, why }: Month): readonly string[] {
  const name = isOver ? month : `${month} so far`
  return closes ? [`${name} closes.`] : [`${name} does not close:`, ...why.map((one) => `  ${one}`)]
}

async function write(
  pages: AsyncIterable<readonly BookRow[]>,
  { isJson }: Context,
): Promise<Result> {
  const text = Readable.from(bookText(pages, isJson ? 'json' : 'csv'), { highWaterMark: 1 })
  await pipeline(text, process.stdout, { end: false })
  return { exit: 0, data: undefined, lines: [] }
}

const always: Span = { from: new Date(0), to: new Date('9999-01-01') }

function wantedIn(args: readonly string[], now: Date) {
  const { positionals } = parseArguments({ args: [...args], allowPositionals: true })
  const [book = '', month = '', ...more] = positionals
  const known = [...books, 'month'] as const
  const isKnown = (word: string): word is (typeof known)[number] =>
    known.some((one) => one === word)
  if (book === '') throw new UsageError(`Say what to export: ${known.join(', ')}`)
  if (!isKnown(book)) throw new UsageError(unknownWord(book, known))
  if (more.length > 0)
    throw new UsageError(`${book} takes one month, and got also ${more.join(', ')}`)
  const isWhole = book !== 'month' && month === ''
  return { book, month, span: isWhole ? always : monthIn(month, now) }
}

function monthIn(month: string, now: Date): Span {
  try {
    return spanOfMonth(month, now)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
