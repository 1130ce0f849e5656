import { beforeEach, expect, test, vi } from 'vitest'
import { createHealth } from '../health/health.ts'
import type { Means } from '../health/verdict.ts'
import { usdc } from '../lib/money.ts'
import type { OpenFacts } from '../orders/ports.ts'
import { withRecentValue } from './cached-reads.ts'
import { type GasFacts, monitorFloat } from './float-monitor.ts'
import { type PartEvent, partChanges } from './reporter.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

const nothingOpen: OpenFacts = {
  exposure: usdc(0n),
  suppliers: new Map(),
  refunds: 0,
  fundsRefusals: [],
}

/** A healthy store with the given means. */
function begin(open: Partial<OpenFacts> = {}, away: object = {}) {
  const seen = {
    float: async () => usdc(7n),
    gas: async (): Promise<GasFacts> => ({ balance: 100n, perTransfer: 5n }),
    open: async () => ({ ...nothingOpen, ...open }),
    wallet: { available: 12.34, currency: 'USD' },
    ...away,
  }
  const supplierWallet = withRecentValue(
    async () => seen.wallet ?? Promise.reject(new Error('429')),
  )
  const now = () => new Date()
  const health = createHealth(now)
  health.noteCatalog(now())
  const noted: Means[] = []
  const told: PartEvent[] = []
  const noteMeans = (means: Means, since?: Date) => {
    noted.push(means)
    health.noteMeans(means, since)
  }
  const stop = new AbortController()
  const sources = {
    float: () => seen.float(),
    gas: () => seen.gas(),
    open: () => seen.open(),
    supplierWallets: new Map([['zendit', supplierWallet.read]]),
    cheapest: () => usdc(1n),
    maxRefund: usdc(50n),
    maxBorneOut: async () => usdc(40n),
  }
  const ended = monitorFloat(
    sources,
    { ...health, noteMeans },
    {
      now,
      signal: stop.signal,
      onRead: partChanges(health, (event) => told.push(event)),
    },
  )
  return {
    seen,
    health,
    noted,
    told,
    action: () => health.signals().agent_action,
    look: () => vi.advanceTimersByTimeAsync(5_000),
    async end() {
      stop.abort()
      await ended
    },
  }
}

test('reads the means at once and every 5 s', async () => {
  const { noted, look, end } = begin({
    suppliers: new Map([
      ['zendit', { pending: usdc(4n), unconfirmed: usdc(1n), committed: usdc(2n) }],
      ['acme', { pending: usdc(5n), unconfirmed: usdc(0n), committed: usdc(0n) }],
    ]),
    exposure: usdc(3n),
    refunds: 4,
  })
  await vi.advanceTimersByTimeAsync(0)
  expect(noted).toEqual([
    {
      cover: { float: 7n, exposure: 3n },
      // Four open refunds and twenty further transfers.
      gas: { balance: 100n, need: 120n },
      funds: new Map([
        ['zendit', { available: 12_340_000n, pending: 4n, committed: 2n, unconfirmed: 1n }],
      ]),
      pending: 9n,
      cheapest: 1n,
      maxRefund: 50n,
      maxBorneOut: 40n,
    },
  ])
  await vi.advanceTimersByTimeAsync(4_999)
  expect(noted).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(noted).toHaveLength(2)
  await end()
  await look()
  expect(noted).toHaveLength(2)
})

test('stops purchases while the float covers no more, reports it once, and resumes', async () => {
  const { seen, health, told, action, look, end } = begin()
  await vi.advanceTimersByTimeAsync(0)
  expect([action(), told]).toEqual(['pay', []])
  seen.open = async () => ({ ...nothingOpen, exposure: usdc(7n) })
  await look()
  await look()
  expect(action()).toBe('stop')
  const detail =
    'The refund wallet holds 0.000007 USDC, and open refunds may need 0.000007. One purchase may take a quarter of the rest. Top up the wallet.'
  expect(health.parts().refunds).toEqual({ state: 'down', detail })
  expect(told).toEqual([{ name: 'part_down', part: 'refunds', detail }])
  seen.float = async () => usdc(11n)
  await look()
  expect(action()).toBe('pay')
  expect(told.at(-1)).toEqual({ name: 'part_up', part: 'refunds', detail: '' })
  await end()
})

test('recorded refusals for insufficient funds close the supplier', async () => {
  const { seen, health, action, look, end } = begin()
  await vi.advanceTimersByTimeAsync(0)
  const refused = (reference: string) => ({
    reference,
    supplier: 'zendit',
    at: new Date(),
    amount: usdc(5n),
  })
  seen.open = async () => ({ ...nothingOpen, fundsRefusals: [refused('a'), refused('b')] })
  await look()
  expect([action(), health.parts().supplier.state]).toEqual(['stop', 'down'])
  seen.wallet = { available: 13, currency: 'USD' }
  await look()
  expect(action()).toBe('pay')
  await end()
})

test('recorded refusals of a supplier that was removed concern no supplier', async () => {
  const { seen, health, told, look, end } = begin()
  const refusal = { reference: 'a', supplier: 'removed', at: new Date(), amount: usdc(5n) }
  seen.open = async () => ({ ...nothingOpen, fundsRefusals: [refusal] })
  await look()
  expect([...health.suppliers().keys()]).toEqual(['zendit'])
  expect(told).toEqual([])
  await end()
})

test('a supplier wallet in another currency limits nothing', async () => {
  const { seen, noted, end } = begin()
  seen.wallet = { available: 0, currency: 'EUR' }
  await vi.advanceTimersByTimeAsync(0)
  expect(noted.at(-1)?.funds.get('zendit')).toBe('unbounded')
  await end()
})

const unseeable = ['float', 'gas', 'open', 'wallet'] as const
/** The means that are unknown when a source fails. */
const unknownWithout = {
  float: ['cover'],
  gas: ['gas'],
  open: ['cover', 'gas', 'funds'],
  wallet: ['funds'],
} as const
const away = (part: (typeof unseeable)[number]) => ({
  [part]: part === 'wallet' ? undefined : () => Promise.reject(new Error('timeout')),
})

test.each(unseeable)(
  'uses the last value for 5 minutes when it cannot read %s, and then sells nothing',
  async (part) => {
    const { seen, health, noted, action, look, end } = begin()
    await vi.advanceTimersByTimeAsync(0)
    const bounds = health.bounds()
    Object.assign(seen, away(part))
    await vi.advanceTimersByTimeAsync(5 * 60_000 - 5_000)
    expect([noted.at(-1), action()]).toEqual([noted[0], 'pay'])
    expect(health.bounds()).toEqual(bounds)
    await look()
    expect(action()).toBe('stop')
    await end()
  },
)

test.each(unseeable)('sells nothing before it has read %s', async (part) => {
  const { noted, action, end } = begin({}, away(part))
  await vi.advanceTimersByTimeAsync(0)
  expect([noted.length, action()]).toEqual([1, 'stop'])
  const seen = { ...noted[0], funds: noted[0]?.funds.get('zendit') }
  const unknown = (['cover', 'gas', 'funds'] as const).filter((one) => !seen[one])
  expect(unknown).toEqual(unknownWithout[part])
  await end()
})

test('a sale during a reading stays deducted until the next one', async () => {
  const { seen, health, look, end } = begin()
  await vi.advanceTimersByTimeAsync(0)
  const most = () => health.bounds().find(({ by }) => by === 'refund_float')?.max
  const slow = Promise.withResolvers<ReturnType<typeof usdc>>()
  seen.float = () => slow.promise
  await look()
  await vi.advanceTimersByTimeAsync(1)
  expect(health.sell('a', usdc(1n), 'zendit')).toBeUndefined()
  health.noteOpened('a')
  await vi.advanceTimersByTimeAsync(1)
  slow.resolve(usdc(8n))
  await vi.advanceTimersByTimeAsync(0)
  expect(most()).toBe(1n)
  await look()
  expect(most()).toBe(2n)
  await end()
})

test('sales stay deducted while open orders cannot be read', async () => {
  const { seen, health, look, end } = begin()
  await vi.advanceTimersByTimeAsync(0)
  const most = () => health.bounds().find(({ by }) => by === 'refund_float')?.max
  seen.float = async () => usdc(8n)
  await look()
  expect(most()).toBe(2n)
  Object.assign(seen, away('open'))
  expect(health.sell('a', usdc(2n), 'zendit')).toBeUndefined()
  health.noteOpened('a')
  await look()
  await look()
  expect(most()).toBe(1n)
  seen.open = async () => ({ ...nothingOpen, exposure: usdc(4n) })
  await look()
  expect(most()).toBe(1n)
  await end()
})

test('never starts a reading before the last one has ended', async () => {
  const { seen, noted, end } = begin()
  await vi.advanceTimersByTimeAsync(0)
  let looks = 0
  const slow = Promise.withResolvers<ReturnType<typeof usdc>>()
  seen.float = () => {
    looks += 1
    return slow.promise
  }
  await vi.advanceTimersByTimeAsync(60_000)
  expect([looks, noted.length]).toEqual([1, 1])
  slow.resolve(usdc(1n))
  await vi.advanceTimersByTimeAsync(0)
  expect(noted).toHaveLength(2)
  await end()
})
