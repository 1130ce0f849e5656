import { beforeEach, expect, it, vi } from 'vitest'
import type { RateSource, RateTable } from '../../catalog/ports.ts'
import { createFrankfurter, keepRates, type RatesRead } from './frankfurter.ts'

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
  ['a table that is padded to more than anybody needs', JSON.stringify(good) + ' '.repeat(65_536)],
])('refuses %s', async (_name, body) => {
  await expect(sourceAnswering(body).latest(signal)).rejects.toThrow('did not answer with rates')
})

it('names the status of a failure and the host that cannot be read', async () => {
  await expect(sourceAnswering(good, 503).latest(signal)).rejects.toThrow('answered 503')
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

beforeEach(() => {
  vi.useFakeTimers()
})

const tableOf = (day: string): RateTable => ({
  asOf: new Date(`${day}T15:00:00Z`),
  source: 'test',
  perUsd: { EUR: 0.86 },
})

it('holds the last good table, tries a failure again soon, and never goes back in time', async () => {
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
