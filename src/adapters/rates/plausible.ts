import type { RateTable } from '../../catalog/ports.ts'

/**
 * The range of the price of one US dollar in each currency over the last twenty years (TRY: since 2023), with
 * a margin: the currencies of the ECB's reference rates, and others with a peg. An inverted rate, or one that
 * is off by a factor of 100, lies outside. Nothing is priced in other currencies, because nothing tells a
 * good rate of them from a bad one.
 */
const bounds: Readonly<Record<string, readonly [low: number, high: number]>> = {
  AED: [3.6, 3.75],
  AUD: [0.85, 2.1],
  BGN: [1.15, 2.2],
  BHD: [0.37, 0.38],
  BRL: [1.4, 12],
  CAD: [0.88, 1.75],
  CHF: [0.65, 1.15],
  CNY: [5.8, 8.8],
  CZK: [14, 32],
  DKK: [4.4, 8.2],
  EUR: [0.6, 1.1],
  GBP: [0.45, 0.97],
  HKD: [7.6, 8],
  HUF: [140, 520],
  IDR: [8_000, 30_000],
  ILS: [2.7, 5],
  INR: [38, 150],
  ISK: [55, 190],
  JOD: [0.7, 0.72],
  JPY: [75, 220],
  KRW: [850, 2_000],
  KWD: [0.26, 0.33],
  MXN: [9, 32],
  MYR: [2.8, 5.5],
  NOK: [4.8, 14],
  NZD: [1.1, 2.3],
  OMR: [0.38, 0.39],
  PHP: [38, 80],
  PLN: [2, 5.6],
  QAR: [3.6, 3.7],
  RON: [2.2, 6],
  SAR: [3.7, 3.8],
  SEK: [5.6, 13.5],
  SGD: [1.12, 1.7],
  THB: [26, 46],
  TRY: [20, 200],
  ZAR: [6, 30],
}

const dayMs = 86_400_000
/** The largest factor by which a rate may change from one table to the next. */
const maxJump = 1.2
/** The last accepted rate counts for this long. Later, any rate within the bounds is accepted. */
const rememberedMs = 7 * dayMs
/** If a larger share of the rates is implausible, the whole table is rejected. */
const maxShare = 1 / 4

interface Believed {
  readonly rate: number
  readonly asOf: number
}

/** A table without its implausible rates. */
export interface Sifted {
  readonly table: RateTable
  /** For each implausible rate, the currency and why. */
  readonly refused: readonly string[]
}

/**
 * Returns a function that checks each rate of a table: whether it is within the bounds of its currency, and
 * whether it is near the last accepted rate.
 */
export function createSieve(now: () => Date): (table: RateTable) => Sifted {
  const known = new Map<string, Believed>()

  const doubtAbout = (currency: string, rate: number, asOf: number): string | undefined => {
    const [low, high] = bounds[currency] ?? [0, 0]
    if (!(rate >= low && rate <= high)) return `${currency} ${rate} is not from ${low} to ${high}`
    const last = known.get(currency)
    if (last === undefined || Math.abs(asOf - last.asOf) > rememberedMs) return undefined
    const jump = Math.max(rate / last.rate, last.rate / rate)
    return jump > maxJump ? `${currency} ${rate} comes after ${last.rate}` : undefined
  }

  /** @throws Error if the table is dated too far ahead, or too many of its rates are implausible */
  return (table) => {
    const asOf = table.asOf.getTime()
    // Rates are dated by the day, and their time of that day may still be ahead.
    if (asOf - now().getTime() > dayMs) {
      throw new Error(`${table.source} dates its rates ${table.asOf.toISOString()}`)
    }
    const named = Object.entries(table.perUsd).filter(([currency]) => currency in bounds)
    const judged = named.map(([currency, rate]) => {
      return { currency, rate, doubt: doubtAbout(currency, rate, asOf) }
    })
    const refused = judged.flatMap(({ doubt }) => doubt ?? [])
    if (refused.length > named.length * maxShare) {
      throw new Error(`${table.source} is not believed: ${refused.join('; ')}`)
    }
    const good = judged.filter(({ doubt }) => doubt === undefined)
    for (const { currency, rate } of good) known.set(currency, { rate, asOf })
    const perUsd = Object.fromEntries(good.map(({ currency, rate }) => [currency, rate]))
    return { table: { ...table, perUsd }, refused }
  }
}
