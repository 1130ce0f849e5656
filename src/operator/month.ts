import type { Pool } from 'pg'
import {
  type AccountSums,
  accountSums,
  coinsReceived,
  paidByTransactions,
  receivedInBlocks,
  type Span,
  suppliedOrders,
} from '../adapters/storage/books.ts'
import type { Charge } from '../catalog/offer.ts'
import { orderIdOfReference } from '../orders/order.ts'
import type { ChainTransfer, ProcessorStatement } from '../reconcile/ports.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import type { Look, Report, Sources } from '../reconcile/sources.ts'
import type { SupplierStatement } from '../suppliers/supplier.ts'
import { amountIn, type BookRow, dollars, majorOf } from './books.ts'

/** A month of the books, and whether it closes against everybody who was paid or paid. */
export interface Month {
  /** `2026-10`, in UTC. */
  readonly month: string
  /** Whether the month has ended; until then its figures are of the time so far. */
  readonly isOver: boolean
  readonly closes: boolean
  /** Why it does not close. */
  readonly why: readonly string[]
  readonly silent: readonly string[]
  readonly rows: readonly BookRow[]
}

/** In UTC, and until now at the latest. @throws RangeError for what is no month, or has not begun */
export function spanOfMonth(month: string, now: Date): Span & { readonly isOver: boolean } {
  const [, year = '', number = ''] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? []
  if (year === '') throw new RangeError(`"${month}" is no month; write it as 2026-10`)
  const begin = (next: number) => new Date(Date.UTC(Number(year), Number(number) - 1 + next))
  const [from, to] = [begin(0), begin(1)]
  if (from > now) throw new RangeError(`${month} has not begun`)
  return { from, to: to <= now ? to : now, isOver: to <= now }
}

/**
 * Compares the whole record as `reconcile` does, item by item, and on the way adds up what the chain, the suppliers and
 * the processor have of this month. A payment belongs to the month of its block, an entry to the month it was booked in.
 */
export async function closeMonth(
  { database, now }: { readonly database: Pool; readonly now: () => Date },
  sources: Sources,
  look: Look,
  month: string,
): Promise<Month> {
  const span = spanOfMonth(month, now())
  const supplied = await suppliedIn(database, span)
  const seen = await watched(sources, span, supplied.ids)
  const report = await reconcile(seen.sources, look)
  const rows = [
    ...(await accountSums(database, span)).map(accountRow),
    ...(await chainRows(database, seen)),
    ...comparedRows('charged', 'suppliers', supplied.costs, seen.costs),
    ...comparedRows('coins received', 'processor', await coinsReceived(database, span), seen.coins),
  ]
  const why = reasons(report, rows, supplied.unknown)
  const { silent } = report
  return { month, isOver: span.isOver, closes: why.length === 0, why, silent, rows }
}

/** Sums by what they are in: minor units by currency and divisor, or units by coin. */
type Sums = Map<string, bigint>

function add(sums: Sums, name: string, amount: number | bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + BigInt(amount))
}

const moneyName = ({ currency, divisor }: Pick<Charge, 'currency' | 'divisor'>) =>
  `${currency}/${divisor}`

async function suppliedIn(database: Pool, span: Span) {
  const [ids, costs] = [new Set<string>(), new Map<string, bigint>()]
  let unknown = 0
  for await (const page of suppliedOrders(database, span)) {
    for (const { id, charge } of page) {
      ids.add(id)
      if (charge) add(costs, moneyName(charge), charge.amount)
      else unknown += 1
    }
  }
  return { ids, costs, unknown }
}

/** The same pages, of which each item is noted as it passes. */
async function* passing<T>(
  pages: AsyncIterable<readonly T[]>,
  note: (one: T) => void,
): AsyncGenerator<readonly T[]> {
  for await (const page of pages) {
    page.forEach(note)
    yield page
  }
}

/** Sources that note what they tell of this time while they are compared. */
async function watched(sources: Sources, span: Span, supplied: ReadonlySet<string>) {
  const { chain, suppliers, processor } = sources
  const { safe } = await chain.heads()
  const first = await chain.blockAt(span.from)
  const last = Math.min(safe, (await chain.blockAt(span.to)) - 1)
  const tally = { received: 0n, sent: 0n, by: new Set<string>() }
  const [costs, coins]: [Sums, Sums] = [new Map(), new Map()]
  const isIn = ({ block, nonce }: ChainTransfer) =>
    nonce !== undefined && block >= first && block <= last

  const received = (from: number, to: number) =>
    passing(chain.received(from, to), (one) => {
      if (isIn(one)) tally.received += one.amount
    })
  const paidBack = (from: number, to: number) =>
    passing(chain.paidBack(from, to), (one) => {
      if (!isIn(one)) return
      tally.sent += one.amount
      tally.by.add(one.transaction)
    })
  const statement = (one: SupplierStatement): SupplierStatement => ({
    ...one,
    purchases: () =>
      passing(one.purchases(), ({ reference, state, cost }) => {
        const isOurs = supplied.has(orderIdOfReference(reference) ?? '')
        if (isOurs && state === 'delivered') add(costs, moneyName(cost), cost.amount)
      }),
  })
  const read: ProcessorStatement['read'] = async (id, coin) => {
    const answer = await (processor as ProcessorStatement).read(id, coin)
    const payments = answer.outcome === 'found' ? answer.invoice.payments : []
    for (const { status, receivedAt, units } of payments) {
      const isCounted = status === 'SETTLED' && receivedAt >= span.from && receivedAt < span.to
      if (isCounted) add(coins, coin, units)
    }
    return answer
  }
  return {
    ...{ first, last, tally, costs, coins },
    sources: {
      ...sources,
      chain: { ...chain, received, paidBack },
      suppliers: new Map(Array.from(suppliers, ([name, one]) => [name, statement(one)])),
      ...(processor && { processor: { ...processor, read } }),
    },
  }
}

function accountRow({ account, asset, isCoin, opening, change }: AccountSums): BookRow {
  const text = (units: bigint) => (isCoin ? amountIn(units, asset) : dollars(units))
  const [before, within] = [BigInt(opening), BigInt(change)]
  return {
    line: isCoin ? `checkouts ${account}` : `orders ${account}`,
    unit: isCoin || asset === 'USDC' ? asset : `USD in ${asset}`,
    opening: text(before),
    change: text(within),
    closing: text(before + within),
    ...{ source: null, source_says: null, difference: null },
  }
}

async function chainRows(
  database: Pool,
  { first, last, tally }: Awaited<ReturnType<typeof watched>>,
): Promise<readonly BookRow[]> {
  const received = await receivedInBlocks(database, first, last)
  const sent = await paidByTransactions(database, [...tally.by])
  const inUsdc = (atomic: bigint): Sums => new Map([['USDC', atomic]])
  return [
    ...comparedRows('payments', 'chain', inUsdc(received), inUsdc(tally.received)),
    ...comparedRows('refunds and goodwill', 'chain', inUsdc(sent), inUsdc(tally.sent)),
  ]
}

function comparedRows(line: string, source: string, ours: Sums, theirs: Sums): readonly BookRow[] {
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].sort()
  return names.map((name) => {
    const [unit = '', divisor] = name.split('/')
    const text = (units: bigint) =>
      divisor === undefined ? amountIn(units, unit) : majorOf(Number(units), Number(divisor))
    const [own, found] = [ours.get(name) ?? 0n, theirs.get(name) ?? 0n]
    const amounts = { source_says: text(found), difference: text(found - own) }
    return { line, unit, opening: null, change: text(own), closing: null, source, ...amounts }
  })
}

function reasons(report: Report, rows: readonly BookRow[], unknown: number): readonly string[] {
  const count = report.differences.length
  return [
    ...rows
      .filter(({ difference }) => difference !== null && Number(difference) !== 0)
      .map((row) => `${row['line']} in ${row['unit']} differ by ${row['difference']}`),
    ...(count > 0 ? [`differences between the record and its sources: ${count}`] : []),
    ...(unknown > 0 ? [`the supplier never said what ${unknown} delivered orders cost`] : []),
    ...report.silent.map((what) => `no answer: ${what}`),
  ]
}
