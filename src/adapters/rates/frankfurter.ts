import * as z from 'zod'
import type { RateSource, RateTable } from '../../catalog/ports.ts'
import { whyCallFailed } from '../../lib/connection-error.ts'
import { messageOf } from '../../lib/error-text.ts'
import { readText } from '../../lib/read-text.ts'
import { repeat } from '../../lib/repeat.ts'
import { createSieve, type Sifted } from './plausible.ts'

export interface FrankfurterOptions {
  /** An endpoint that answers like `https://api.frankfurter.dev/v1/latest`. */
  readonly url: string
  readonly timeoutMs: number
  readonly fetch?: typeof fetch
}

/** Frankfurter's answer: the ECB's reference rates. */
const Latest = z.object({
  amount: z.literal(1).optional(),
  base: z.literal('USD'),
  date: z.iso.date(),
  rates: z
    .record(z.string().regex(/^[A-Z]{3}$/), z.number().positive())
    .refine((rates) => Object.keys(rates).length > 0),
})

/** A table of all currencies takes a few kilobytes. */
const maxAnswerBytes = 64 * 1024

const hourMs = 3_600_000
const retryMs = 60_000

/** Reads the rates of one US dollar. `latest` rejects if the answer is not a table of rates. */
export function createFrankfurter(options: FrankfurterOptions): RateSource {
  const url = new URL(options.url)
  url.searchParams.set('base', 'USD')
  return { latest: (signal) => latest(options, url, signal) }
}

async function latest(
  options: FrankfurterOptions,
  url: URL,
  signal: AbortSignal,
): Promise<RateTable> {
  const { status, text } = await read(options, url, signal)
  if (status !== 200) throw new Error(`${url.host} answered ${status}`)
  const table = Latest.safeParse(jsonOf(text))
  if (!table.success) throw new Error(`${url.host} did not answer with rates for one USD`)
  const { date, rates } = table.data
  // The ECB publishes the rates of the day at about 16:00 in Frankfurt: 15:00 UTC in winter.
  const asOf = new Date(`${date}T15:00:00Z`)
  return { asOf, source: `Frankfurter at ${url.host}`, perUsd: rates }
}

async function read(options: FrankfurterOptions, url: URL, signal: AbortSignal) {
  try {
    const response = await (options.fetch ?? fetch)(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
    })
    return { status: response.status, text: (await readText(response, maxAnswerBytes)) ?? '' }
  } catch (error) {
    throw new Error(`${url.host} could not be read: ${whyCallFailed(error, options.timeoutMs)}`)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The newest table of rates, updated in the background. */
export interface KeptRates {
  /** Undefined until the first table was read. The table stays while newer ones cannot be read. */
  current(): RateTable | undefined
  /** Resolves when the first attempt has ended, successful or not. */
  readonly first: Promise<void>
  /** Resolves when the signal has stopped the reading. */
  readonly stopped: Promise<void>
}

/** The result of reading the rates once. */
export type RatesRead =
  | {
      readonly outcome: 'read'
      readonly table: RateTable
      /** For each implausible rate, the currency and why. The table is without them. */
      readonly refused: readonly string[]
    }
  | { readonly outcome: 'failed'; readonly reason: string }

export interface KeepRatesOptions {
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly report: (read: RatesRead) => void
  readonly everyMs?: number
}

/**
 * Reads the rates now and then hourly. A failed reading is retried after a minute, doubling up to an hour.
 * The rates are kept in memory only. `createSieve` rejects implausible rates; `isStale` decides whether a
 * table is too old for prices.
 */
export function keepRates(source: RateSource, options: KeepRatesOptions): KeptRates {
  let table: RateTable | undefined
  const sift = createSieve(options.now)
  const { promise: first, resolve: firstEnded } = Promise.withResolvers<void>()
  const task = async () => {
    const read = await readOnce(source, sift, options.signal)
    // A mirror that lags behind must not replace a newer table.
    const isNewer = read.outcome === 'read' && !(table && read.table.asOf < table.asOf)
    if (isNewer) table = read.table
    if (!options.signal.aborted) options.report(read)
    firstEnded()
    return read.outcome === 'read'
  }
  const rhythm = { everyMs: options.everyMs ?? hourMs, retryMs, signal: options.signal }
  return { current: () => table, first, stopped: repeat(task, rhythm).finally(firstEnded) }
}

async function readOnce(
  source: RateSource,
  sift: (table: RateTable) => Sifted,
  signal: AbortSignal,
): Promise<RatesRead> {
  try {
    return { outcome: 'read', ...sift(await source.latest(signal)) }
  } catch (error) {
    return { outcome: 'failed', reason: messageOf(error) }
  }
}
