import * as z from 'zod'
import type { RateSource, RateTable } from '../../catalog/ports.ts'
import { messageOf } from '../../lib/errors.ts'
import { callJson } from '../../lib/http-call.ts'
import { repeat } from '../../lib/scheduling.ts'

export interface FrankfurterOptions {
  /** An endpoint that answers like `https://api.frankfurter.dev/v1/latest`. */
  readonly url: string
  readonly timeoutMs: number
  readonly fetch?: typeof fetch
}

const Latest = z.object({
  amount: z.literal(1).optional(),
  base: z.literal('USD'),
  date: z.iso.date(),
  rates: z
    .record(z.string().regex(/^[A-Z]{3}$/), z.number().positive())
    .refine((rates) => Object.keys(rates).length > 0),
})

const maxBytes = 64 * 1024

const hourMs = 3_600_000
const retryMs = 60_000

export function createFrankfurter({ url: text, timeoutMs, fetch }: FrankfurterOptions): RateSource {
  const url = new URL(text)
  url.searchParams.set('base', 'USD')
  const service = { baseUrl: url.origin, timeoutMs, ...(fetch && { fetch }) }
  const request = { method: 'GET', path: url.pathname + url.search, maxBytes } as const
  return {
    async latest(signal): Promise<RateTable> {
      const answer = await callJson(service, { ...request, signal })
      if (answer.outcome === 'unknown')
        throw new Error(`${url.host} could not be read: ${answer.reason}`)
      if (answer.status !== 200) throw new Error(`${url.host} answered ${answer.status}`)
      const table = Latest.safeParse(answer.body)
      if (!table.success) throw new Error(`${url.host} did not answer with rates for one USD`)
      const { date, rates } = table.data
      // The ECB publishes the rates of the day at about 16:00 in Frankfurt: 15:00 UTC in winter.
      const asOf = new Date(`${date}T15:00:00Z`)
      return { asOf, source: `Frankfurter at ${url.host}`, perUsd: rates }
    },
  }
}

export type RatesRead =
  | {
      readonly outcome: 'read'
      readonly table: RateTable
      readonly refused: readonly string[]
    }
  | { readonly outcome: 'failed'; readonly reason: string }

export interface KeepRatesOptions {
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly report: (read: RatesRead) => void
  readonly everyMs?: number
}

/** Reads the rates now and then hourly. A failed reading is retried after a minute, doubling up to an hour. */
export function keepRates(source: RateSource, options: KeepRatesOptions) {
  let table: RateTable | undefined
  const sift = createSieve(options.now)
  const { promise: first, resolve: firstEnded } = Promise.withResolvers<void>()
  const task = async () => {
    const result: RatesRead = await source
      .latest(options.signal)
      .then((latest) => ({ outcome: 'read' as const, ...sift(latest) }))
      .catch((error: unknown) => ({ outcome: 'failed', reason: messageOf(error) }))
    // A mirror that lags behind must not replace a newer table.
    const isNewer = result.outcome === 'read' && !(table && result.table.asOf < table.asOf)
    if (isNewer) table = result.table
    if (!options.signal.aborted) options.report(result)
    firstEnded()
    return result.outcome === 'read'
  }
  const rhythm = { everyMs: options.everyMs ?? hourMs, retryMs, signal: options.signal }
  // The table stays while newer ones cannot be read.
  return { current: () => table, first, stopped: repeat(task, rhythm).finally(firstEnded) }
}

/** One US dollar over twenty years (TRY: since 2023), with a margin. Nothing is priced in other currencies. */
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
const maxJump = 1.2
const rememberedMs = 7 * dayMs
const maxShare = 1 / 4

interface Believed {
  readonly rate: number
  readonly asOf: number
}

export interface Sifted {
  readonly table: RateTable
  readonly refused: readonly string[]
}

export function createSieve(now: () => Date): (table: RateTable) => Sifted {
  const lastRates = new Map<string, Believed>()

  const doubtAbout = (currency: string, rate: number, asOf: number): string | undefined => {
    const [low, high] = bounds[currency] ?? [0, 0]
    if (!(rate >= low && rate <= high)) return `${currency} ${rate} is not from ${low} to ${high}`
    const last = lastRates.get(currency)
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
    for (const { currency, rate } of good) lastRates.set(currency, { rate, asOf })
    const perUsd = Object.fromEntries(good.map(({ currency, rate }) => [currency, rate]))
    return { table: { ...table, perUsd }, refused }
  }
}
