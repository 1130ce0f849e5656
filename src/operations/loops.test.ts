import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { checkoutWorld, invoiced } from '../../test/doubles/checkouts.ts'
import { newOrder, paymentOf } from '../../test/doubles/orders.ts'
import type { Checkout } from '../checkouts/checkout.ts'
import type { InvoiceRead } from '../checkouts/ports.ts'
import type { GoodwillStore } from '../orders/ports.ts'
import { type PaidInvoice, payerOf } from '../payments/payment.ts'
import { keepRetention, runSweeper, watch } from './loops.ts'

const day = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})

/** What the sweep works with, where no goodwill is due. */
function swept({ deps }: Pick<ReturnType<typeof checkoutWorld>, 'deps'>) {
  const goodwill = { claimDue: async () => [] } as Partial<GoodwillStore> as GoodwillStore
  return { ...deps, goodwill }
}

function stoppable() {
  const stop = new AbortController()
  const failed = vi.fn()
  return { stop, failed, loop: { signal: stop.signal, failed } }
}

describe('the sweep', () => {
  test('advances at most a hundred orders a second', async () => {
    const { deps, orders, clock } = checkoutWorld({ held: { outcome: 'pending' } })
    for (let at = 0; at < 120; at += 1) {
      const payment = paymentOf({ nonce: `0x${String(at).padStart(64, '0')}` })
      await orders.open(newOrder(deps, { payment }), [])
    }
    clock.pass(60_000)
    const { stop, failed, loop } = stoppable()
    const ended = runSweeper(swept({ deps }), loop)
    await vi.advanceTimersByTimeAsync(0)
    const taken = () => orders.history.filter(({ state }) => state === 'PAID').length
    expect(taken()).toBe(25)
    await vi.advanceTimersByTimeAsync(750)
    expect(taken()).toBe(100)
    await vi.advanceTimersByTimeAsync(250)
    expect(taken()).toBe(120)
    stop.abort()
    await ended
    expect(failed).not.toHaveBeenCalled()
  })

  test('resumes after a database outage and reports it', async () => {
    const { deps, orders } = checkoutWorld()
    const claimDue = vi.spyOn(orders, 'claimDue').mockRejectedValueOnce(new Error('gone'))
    const { stop, failed, loop } = stoppable()
    const ended = runSweeper(swept({ deps }), loop)
    await vi.advanceTimersByTimeAsync(250)
    expect(failed.mock.calls).toEqual([['sweep', new Error('gone')]])
    expect(claimDue.mock.calls.filter(([, method]) => method === 'x402')).toHaveLength(2)
    stop.abort()
    await ended
  })
})

describe('a payment processor that does not answer', () => {
  test('does not delay orders paid in USDC', async () => {
    const world = checkoutWorld({ held: { outcome: 'pending' } })
    const { deps, orders, clock, processor, reading } = world
    const { checkout } = await world.start()
    const { invoice } = invoiced(checkout)
    await orders.open(newOrder(deps, { payment: inCoin(checkout, invoice.units) }), [])
    let answer = (_: InvoiceRead) => {}
    const silence = new Promise<InvoiceRead>((resolve) => {
      answer = resolve
    })
    reading.read = vi.spyOn(processor, 'read').mockReturnValue(silence)
    clock.pass(60_000)
    const { stop, loop } = stoppable()
    const ended = runSweeper(swept({ deps }), loop)
    await vi.advanceTimersByTimeAsync(0)
    // The checkout and the order paid in a coin are tried and make no progress.
    expect(reading.read).toHaveBeenCalledTimes(2)
    const order = newOrder(deps)
    await orders.open(order, [])
    await orders.release(order, 0)
    await vi.advanceTimersByTimeAsync(250)
    expect(await orders.find(order.id)).toMatchObject({ state: 'FULFILLING' })
    stop.abort()
    answer({ outcome: 'unknown', reason: 'it went away' })
    await ended
  })
})

function inCoin({ id, coin, network, refundTo, amount }: Checkout, units: bigint): PaidInvoice {
  const payer = payerOf(coin, refundTo)
  const paid = { method: 'btcpay', network, asset: coin, payTo: 'address', payer, amount } as const
  return { ...paid, nonce: id, invoice: 'invoice', units }
}

describe('data retention', () => {
  const keeping = () => {
    const now = new Date('2026-03-01T00:00:00Z')
    const orders = {
      erasePersonal: vi.fn(async (_: Date, _signal?: AbortSignal) => 0),
      forgetKeys: vi.fn(async (_: Date, _signal?: AbortSignal) => 0),
      forgetNeverPaid: vi.fn(async (_: Date, _signal?: AbortSignal) => 0),
    }
    const checkouts = {
      erasePersonal: vi.fn(async (_: Date, _signal?: AbortSignal) => 0),
      forgetNeverPaid: vi.fn(async (_: Date, _signal?: AbortSignal) => 0),
    }
    const limits = { forgetLifted: vi.fn(async (_: Date) => 0) }
    const reservations = { forget: vi.fn(async (_: Date, _signal?: AbortSignal) => 0) }
    const approvals = { forget: vi.fn(async (_: Date) => 0) }
    const mail = { forget: vi.fn(async (_: Date) => 0) }
    const webhooks = { forget: vi.fn(async (_: Date, _signal?: AbortSignal) => 0) }
    const forgetNonces = vi.fn(async () => 0)
    const addUpEnds = vi.fn(async () => undefined)
    return {
      ...{ orders, checkouts, limits, reservations, approvals, mail, webhooks },
      ...{ forgetNonces, addUpEnds },
      personalDataDays: 7,
      now: () => now,
    }
  }

  test('erases personal data, keys, unpaid orders, limits and nonces after their retention times, every hour', async () => {
    const kept = keeping()
    const { stop, loop } = stoppable()
    const ended = keepRetention(kept, loop)
    await vi.advanceTimersByTimeAsync(0)
    const ago = (days: number) => new Date(kept.now().getTime() - days * day)
    expect(kept.orders.erasePersonal.mock.calls).toEqual([[ago(7), loop.signal]])
    expect(kept.checkouts.erasePersonal.mock.calls).toEqual([[ago(7), loop.signal]])
    expect(kept.orders.forgetKeys.mock.calls).toEqual([[ago(30), loop.signal]])
    expect(kept.orders.forgetNeverPaid.mock.calls).toEqual([[ago(1), loop.signal]])
    expect(kept.checkouts.forgetNeverPaid.mock.calls).toEqual([[ago(90), loop.signal]])
    expect(kept.mail.forget.mock.calls).toEqual([[ago(7)]])
    expect(kept.webhooks.forget.mock.calls).toEqual([[ago(7), loop.signal]])
    expect(kept.limits.forgetLifted.mock.calls).toEqual([[ago(0)]])
    expect(kept.reservations.forget.mock.calls).toEqual([[ago(1), loop.signal]])
    expect(kept.approvals.forget.mock.calls).toEqual([[ago(1)]])
    expect(kept.forgetNonces).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(kept.forgetNonces).toHaveBeenCalledTimes(2)
    expect(kept.addUpEnds).toHaveBeenCalledTimes(2)
    stop.abort()
    await ended
  })

  test('reports a failure, goes on with the rest, and retries after a minute', async () => {
    const kept = keeping()
    kept.orders.erasePersonal.mockRejectedValueOnce(new Error('gone'))
    const { stop, failed, loop } = stoppable()
    const ended = keepRetention(kept, loop)
    await vi.advanceTimersByTimeAsync(0)
    expect(failed.mock.calls).toEqual([['forget', new Error('gone')]])
    expect(kept.checkouts.erasePersonal).toHaveBeenCalledTimes(1)
    expect(kept.addUpEnds).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(failed).toHaveBeenCalledTimes(1)
    expect(kept.orders.erasePersonal).toHaveBeenCalledTimes(2)
    stop.abort()
    await ended
  })
})

test('what is watched is told when it differs; while it cannot be read, the last counts', async () => {
  vi.useRealTimers()
  const stop = new AbortController()
  const failures: string[] = []
  const seen: (readonly number[])[] = []
  let read = async () => [1]
  const loop = { signal: stop.signal, failed: (what: string) => failures.push(what) }
  const watched = {
    read: () => read(),
    changed: (value: readonly number[]) => seen.push(value),
    everyMs: 10,
  }
  const { stopped } = await watch('reading the rules', watched, loop)
  expect(seen).toEqual([[1]])
  read = () => Promise.reject(new Error('away'))
  while (failures.length < 2) await delay(1)
  read = async () => [2]
  while (seen.length < 2) await delay(1)
  stop.abort()
  await stopped
  expect({ seen, failures: [...new Set(failures)] }).toEqual({
    seen: [[1], [2]],
    failures: ['reading the rules'],
  })
})
