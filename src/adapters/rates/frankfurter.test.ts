import { describe, expect, it, vi } from 'vitest'
import type { RateSource, RateTable } from '../../catalog/ports.ts'
import { createFrankfurter, createSieve, keepRates, type RatesRead } from './frankfurter.ts'

const good = { amount: 1, base: 'USD', date: '2026-10-02', rates: { EUR: 0.86, JPY: 152 } }

function sourceAnswering(body: unknown, status = 200, asked: string[] = []): RateSource {
  return createFrankfurter({
    url: 'https://rates.example/v1/latest?symbols=EUR,JPY',
    timeoutMs: 60_000,
    fetch: async (url) => {
      asked.push(String(url))
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return new Response(text, { status })
    },
  })
}

const { signal } = new AbortController()

it('reads what one dollar buys, dated at the hour of publication', async () => {
  const asked: string[] = []
  const table = await sourceAnswering(good, 200, asked).latest(signal)
  expect(table).toEqual({
    asOf: new Date('2026-10-02T15:00:00Z'),
    source: 'Frankfurter at rates.example',
    perUsd: { EUR: 0.86, JPY: 152 },
  })
  expect(asked).toEqual(['https://rates.example/v1/latest?symbols=EUR%2CJPY&base=USD'])
})

it.each([
  ['another base', { ...good, base: 'EUR' }],
  ['an amount other than one', { ...good, amount: 100 }],
  ['no such day', { ...good, date: '2026-02-30' }],
  ['no rates', { ...good, rates: {} }],
  ['a rate of zero', { ...good, rates: { EUR: 0 } }],
  ['a rate that is text', { ...good, rates: { EUR: '0.86' } }],
  ['a currency that is none', { ...good, rates: { euro: 0.86 } }],
  ['broken JSON', '{"base":"USD"'],
])('refuses %s', async (_name, body) => {
  await expect(sourceAnswering(body).latest(signal)).rejects.toThrow('did not answer with rates')
})

it('names the status of a failure and the host that cannot be read', async () => {
  await expect(sourceAnswering(good, 503).latest(signal)).rejects.toThrow('answered 503')
  const padded = sourceAnswering(JSON.stringify(good) + ' '.repeat(65_536))
  await expect(padded.latest(signal)).rejects.toThrow('the answer is too large')
  const dead = createFrankfurter({
    url: 'https://rates.example/latest',
    timeoutMs: 60_000,
    fetch: () => {
      const cause = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
      return Promise.reject(new TypeError('fetch failed', { cause }))
    },
  })
  await expect(dead.latest(signal)).rejects.toThrow(
    'rates.example could not be read: the connection failed (ENOTFOUND)',
  )
})

const tableOf = (day: string): RateTable => ({
  asOf: new Date(`${day}T15:00:00Z`),
  source: 'test',
  perUsd: { EUR: 0.86 },
})

it('holds the last good table, tries a failure again soon, and never goes back in time', async () => {
  vi.useFakeTimers()
  const stop = new AbortController()
  const reads: RatesRead[] = []
  const latest = vi
    .fn<RateSource['latest']>()
    .mockRejectedValueOnce(new Error('down'))
    .mockResolvedValueOnce(tableOf('2026-10-02'))
    .mockResolvedValueOnce(tableOf('2026-10-01'))
    .mockRejectedValueOnce(new Error('down again'))
    .mockResolvedValue(tableOf('2026-10-05'))
  const report = (read: RatesRead) => reads.push(read)
  const rates = keepRates(
    { latest },
    { now: () => new Date('2026-10-05T15:00:00Z'), signal: stop.signal, report },
  )
  await rates.first
  expect(rates.current()).toBeUndefined()

  await vi.advanceTimersByTimeAsync(60_000)
  expect(rates.current()).toEqual(tableOf('2026-10-02'))
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(latest).toHaveBeenCalledTimes(3)
  expect(rates.current()).toEqual(tableOf('2026-10-02'))
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(rates.current()).toEqual(tableOf('2026-10-02'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(rates.current()).toEqual(tableOf('2026-10-05'))
  expect(reads.map((read) => read.outcome)).toEqual(['failed', 'read', 'read', 'failed', 'read'])

  stop.abort()
  await rates.stopped
  await vi.advanceTimersByTimeAsync(10 * 3_600_000)
  expect(latest).toHaveBeenCalledTimes(5)
})

it('lets nobody wait for a first table when it is stopped before', async () => {
  const rates = keepRates(
    { latest: () => Promise.reject(new Error('never asked')) },
    { now: () => new Date(), signal: AbortSignal.abort(), report: () => undefined },
  )
  await rates.first
  await rates.stopped
  expect(rates.current()).toBeUndefined()
})

const now = new Date('2026-11-20T16:00:00Z')
const dayMs = 86_400_000
const real = { EUR: 0.86, GBP: 0.75, CHF: 0.8, JPY: 152, CAD: 1.39, AUD: 1.53, KRW: 1430, SEK: 9.4 }

const tableWith = (perUsd: Record<string, number>, asOf = now): RateTable => ({
  asOf,
  source: 'the source',
  perUsd,
})
const sieve = () => createSieve(() => now)

it('a table of real rates is taken whole', () => {
  expect(sieve()(tableWith(real))).toEqual({ table: tableWith(real), refused: [] })
})

describe('of a table that was not seen before', () => {
  it.each(Object.entries(real))('%s upside down is refused', (currency, rate) => {
    const { table, refused } = sieve()(tableWith({ ...real, [currency]: 1 / rate }))
    const { [currency]: _, ...others } = real as Record<string, number>
    expect(table.perUsd).toEqual(others)
    expect(refused).toEqual([expect.stringContaining(currency)])
  })

  it.each(
    Object.entries(real).flatMap(([currency, rate]) =>
      [1e-9, rate / 100, rate * 100, rate * 10, rate / 10].map(
        (wrong) => [currency, wrong] as const,
      ),
    ),
  )('%s of %s is refused', (currency, wrong) => {
    const { table } = sieve()(tableWith({ ...real, [currency]: wrong }))
    expect(table.perUsd).not.toHaveProperty(currency)
  })

  it('nothing is taken where most of it is upside down', () => {
    const inverted = Object.entries(real).map(([currency, rate]) => [currency, 1 / rate])
    expect(() => sieve()(tableWith(Object.fromEntries(inverted)))).toThrow(
      /^the source is not believed/,
    )
  })

  it('a currency that nobody can vouch for is left out without an alarm', () => {
    expect(sieve()(tableWith({ ...real, ARS: 1410 }))).toEqual({
      table: tableWith(real),
      refused: [],
    })
  })
})

describe('of a table that follows another', () => {
  const next = (after: number) => new Date(now.getTime() + after * dayMs)

  it('a rate that jumped is refused, each time it is told, and the others are taken', () => {
    const sift = createSieve(() => next(3))
    sift(tableWith(real))
    for (const after of [1, 2, 3]) {
      const { table, refused } = sift(tableWith({ ...real, JPY: 190, EUR: 0.87 }, next(after)))
      expect(table.perUsd).toMatchObject({ EUR: 0.87 })
      expect(table.perUsd).not.toHaveProperty('JPY')
      expect(refused).toEqual(['JPY 190 comes after 152'])
    }
  })

  it('it is believed after a week, or as soon as it is back', () => {
    const sift = createSieve(() => next(9))
    sift(tableWith(real))
    expect(sift(tableWith({ ...real, JPY: 190 }, next(1))).refused).toHaveLength(1)
    expect(sift(tableWith({ ...real, JPY: 150 }, next(2))).refused).toEqual([])
    expect(sift(tableWith({ ...real, JPY: 190 }, next(9))).refused).toHaveLength(1)
    expect(sift(tableWith({ ...real, JPY: 190 }, next(9.1))).table.perUsd).toMatchObject({
      JPY: 190,
    })
  })
})

it.each([
  ['2026-11-20T15:00:00Z', true],
  ['2026-11-21T15:00:00Z', true],
  ['2026-11-22T15:00:00Z', false],
  ['2099-01-01T15:00:00Z', false],
])('a table of %s is taken on 20 November 2026: %s', (asOf, isTaken) => {
  const act = () => sieve()(tableWith(real, new Date(asOf)))
  if (isTaken) expect(act().refused).toEqual([])
  else expect(act).toThrow(/^the source dates its rates/)
})
