import type { Pool } from 'pg'
import {
  type BookedEntry,
  type BookedOrder,
  bookedEntries,
  bookedOrders,
  type Span,
} from '../adapters/storage/books.ts'
import { type Charge, kindOf } from '../catalog/offer.ts'
import { csvLine } from '../lib/csv.ts'
import { usdcDecimals } from '../lib/money.ts'
import { supplierReferenceOf } from '../orders/order.ts'
import { type Coin, coinDecimals } from '../payments/coins.ts'
import type { GasPaid } from '../payments/payment.ts'

/** A row of a book: its keys are the columns, in their order. Amounts are decimal; null is unknown, or does not apply. */
export type BookRow = Readonly<Record<string, string | number | null>>

export const books = ['orders', 'ledger'] as const
export type Book = (typeof books)[number]

/** One row an order placed, or one an entry of the ledger, within this time. */
export async function* bookRows(
  { database }: { readonly database: Pool },
  book: Book,
  span: Span,
): AsyncGenerator<readonly BookRow[]> {
  if (book === 'orders') {
    for await (const page of bookedOrders(database, span)) yield page.map(orderRow)
  } else {
    for await (const page of bookedEntries(database, span)) yield page.map(entryRow)
  }
}

export type BookFormat = 'csv' | 'json'

/** The book as a file, a page at a time. Its columns are those of the first row; a book without rows is empty. */
export async function* bookText(
  pages: AsyncIterable<readonly BookRow[]>,
  format: BookFormat,
): AsyncGenerator<string> {
  let written = 0
  if (format === 'json') yield '['
  for await (const page of pages) {
    const heading = written === 0 && page[0] ? csvLine(Object.keys(page[0])) : ''
    yield format === 'csv'
      ? heading + page.map((row) => csvLine(Object.values(row))).join('')
      : page.map((row, at) => `${written + at > 0 ? ',' : ''}\n${JSON.stringify(row)}`).join('')
    written += page.length
  }
  if (format === 'json') yield '\n]\n'
}

const fixed = (units: bigint, decimals: number): string => {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const [whole, fraction] = [digits.slice(0, -decimals), digits.slice(-decimals)]
  return `${units < 0n ? '-' : ''}${whole}.${fraction}`
}

/** Atomic USDC as US dollars. */
export const dollars = (atomic: bigint | string): string => fixed(BigInt(atomic), usdcDecimals)

/** Units of an asset as the asset. */
export const amountIn = (units: bigint | string, asset: string): string =>
  asset === 'USDC' ? dollars(units) : fixed(BigInt(units), coinDecimals[asset as Coin])

function orderRow(order: BookedOrder): BookRow {
  const { item, asset, units, price, received, refunded, goodwill } = order
  const kind = kindOf(item)
  const cost = costOf(order)
  const kept = BigInt(received) - BigInt(refunded) - BigInt(goodwill)
  return {
    order: order.id,
    placed_at: order.placedAt.toISOString(),
    state: order.state,
    refund_state: order.refundState,
    kind: order.kind,
    brand: item.brandName,
    offer: item.offerId,
    country: item.country ?? null,
    ...faceOf(item),
    paid_in: asset,
    paid_amount: amountIn(units, asset),
    usd_per_unit: rateOf(price, amountIn(units, asset)),
    price_usd: dollars(price),
    received_usd: dollars(received),
    refunded_usd: dollars(refunded),
    goodwill_usd: dollars(goodwill),
    supplier: item.source.supplier,
    supplier_reference: supplierReferenceOf(order.id),
    ...cost.columns,
    margin_usd: cost.atomic === undefined ? null : dollars(kept - cost.atomic),
    ...gasColumns(order),
    vat_treatment: kind.vat.treatment,
    vat_place: kind.vat.place === 'line' ? (item.country ?? null) : kind.vat.place,
    payment_transaction: order.transaction,
    refund_transaction: order.refundTransaction,
  }
}

function entryRow({ at, subject, seq, account, amount, isCoin, asset }: BookedEntry): BookRow {
  return {
    at: at.toISOString(),
    subject,
    entry: seq,
    account,
    amount: isCoin ? amountIn(amount, asset) : dollars(amount),
    unit: isCoin ? asset : 'USD',
    paid_in: asset,
  }
}

function faceOf({ kind, shown, value }: BookedOrder['item']) {
  const face = shown && kindOf({ kind }).faceValueOf(shown as never)
  const chosen = shown && value !== undefined ? { ...shown.price, fixed: value } : undefined
  const money = face?.type === 'FIXED' ? face : chosen
  return {
    face_value: money ? majorOf(money.fixed, money.divisor) : null,
    face_currency: money?.currency ?? null,
  }
}

/** Minor units of a currency as the currency. */
export const majorOf = (minor: number, divisor: number): string =>
  (minor / divisor).toFixed(Math.max(0, Math.ceil(Math.log10(divisor))))

function rateOf(price: string, paid: string): string {
  return (Number(dollars(price)) / Number(paid)).toFixed(usdcDecimals)
}

/** Nothing where the supplier delivered nothing; unknown where it never said what it charged. */
function costOf({ isSupplied, charge, item }: BookedOrder) {
  if (!isSupplied) return { atomic: 0n, columns: costColumns(undefined, 0n) }
  const atomic = charge ? costInUsd(charge, item.charge) : undefined
  return { atomic, columns: costColumns(charge ?? undefined, atomic) }
}

function costColumns(charge: Charge | undefined, atomic: bigint | undefined) {
  return {
    cost: charge ? majorOf(charge.amount, charge.divisor) : null,
    cost_currency: charge?.currency ?? null,
    cost_usd: atomic === undefined ? null : dollars(atomic),
  }
}

/** At the rate at which the order was priced; undefined where that was not kept. */
function costInUsd(charge: Charge, listed: Charge | undefined): bigint | undefined {
  const { amount, divisor, currency } = charge
  if (currency === 'USD') return BigInt(Math.round((amount * 1_000_000) / divisor))
  const rate = listed?.currency === currency ? listed.perUsd : undefined
  return rate === undefined ? undefined : BigInt(Math.round((amount * 1e6) / divisor / rate))
}

function gasColumns({ gas, refundGas, goodwillGas }: BookedOrder) {
  const out = [refundGas, goodwillGas].filter((one) => one !== null)
  const sum = (all: readonly GasPaid[]) => all.reduce((wei, one) => wei + one.wei, 0n).toString()
  const all = gas ? [gas, ...out] : out
  const usd = all.map(({ wei, ethUsd }) => (ethUsd === undefined ? null : Number(wei) * ethUsd))
  const isKnown = usd.every((one) => one !== null)
  return {
    gas_in_wei: sum(gas ? [gas] : []),
    gas_out_wei: sum(out),
    gas_usd: isKnown
      ? (usd.reduce((one, other) => one + other, 0) / 1e18).toFixed(usdcDecimals)
      : null,
  }
}
