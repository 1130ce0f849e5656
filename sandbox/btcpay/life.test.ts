import { beforeEach, expect, test, vi } from 'vitest'
import { createTimers } from '../timers.ts'
import { type Deps, defaults } from './deps.ts'
import { createInvoice, invoiceOf, schedule } from './invoices.ts'
import { openLedger } from './ledger.ts'
import { payTogether } from './payments.ts'
import type { StoreEvent } from './webhooks.ts'

beforeEach(() => void vi.useFakeTimers())

/** A server without HTTP, whose clock the test sets. */
function begin() {
  const events: StoreEvent[] = []
  const webhooks = { notify: (event: StoreEvent) => void events.push(event), stop: () => {} }
  const deps: Deps = {
    ledger: openLedger(undefined),
    timers: createTimers(),
    settings: { ...defaults, apiKey: 'k', storeId: 's' },
    place: { url: 'http://here', storeId: 's' },
    losing: [],
    webhooks,
  }
  const checkout = { paymentMethods: ['XMR-CHAIN'], expirationMinutes: 1, monitoringMinutes: 2 }
  const { id } = createInvoice(deps, { amount: '10', checkout }, Date.now())
  const state = () => {
    const { status, additionalStatus } = invoiceOf(deps, id)
    return `${status} ${additionalStatus}`
  }
  const pay = (how: object = {}) => payTogether(deps, [{ invoice: id, ...how }], Date.now())
  const types = () => events.map(({ type }) => type)
  const restart = () =>
    schedule(deps, invoiceOf(deps, id), Date.now(), deps.settings.restartGraceMs)
  const address = () => invoiceOf(deps, id).prompts[0]?.address
  return { address, pay, restart, state, types }
}

test('expires to the moment, and is settled by the chain in its own time', () => {
  const { state, types } = begin()
  vi.advanceTimersByTime(59_999)
  expect(state()).toBe('New None')
  vi.advanceTimersByTime(1)
  expect(state()).toBe('Expired None')
  expect(types()).toEqual(['InvoiceCreated', 'InvoiceExpired'])

  const other = begin()
  other.pay()
  vi.advanceTimersByTime(defaults.confirmMs - 1)
  expect(other.state()).toBe('Processing None')
  vi.advanceTimersByTime(1)
  expect(other.state()).toBe('Settled None')
})

test('expires two minutes late after a restart', () => {
  const { restart, state } = begin()
  restart()
  vi.advanceTimersByTime(3 * 60_000 - 1)
  expect(state()).toBe('New None')
  vi.advanceTimersByTime(1)
  expect(state()).toBe('Expired None')
})

test('one that is paid in time but never confirmed is invalid when the watching ends', () => {
  const { pay, state, types } = begin()
  pay({ confirm: false })
  vi.advanceTimersByTime(3 * 60_000 - 1)
  expect(state()).toBe('Processing None')
  vi.advanceTimersByTime(1)
  expect(state()).toBe('Invalid None')
  expect(types().at(-1)).toBe('InvoiceInvalid')
})

test('a part of the price in Monero changes the address, until the time is over', () => {
  const { address, pay } = begin()
  const first = address()
  pay({ units: 5n })
  const second = address()
  expect(second).not.toBe(first)
  pay({ units: 5n, address: first })
  expect(address()).toBe(second)
  vi.advanceTimersByTime(60_000)
  pay({ units: 5n })
  expect(address()).toBe(second)
})

test('late money makes it paid late once, after it was partly paid', () => {
  const { pay, state, types } = begin()
  pay({ units: 5n })
  vi.advanceTimersByTime(60_000)
  expect(state()).toBe('Expired PaidPartial')
  pay()
  pay()
  vi.advanceTimersByTime(60_000)
  expect(state()).toBe('Expired PaidLate')
  const told = types().filter((type) => /Expir/.test(type))
  expect(told).toEqual([
    'InvoiceExpired',
    'InvoiceExpiredPaidPartial',
    'InvoicePaidAfterExpiration',
  ])
})

test('money that is not watched for changes nothing', () => {
  const { pay, state } = begin()
  vi.advanceTimersByTime(3 * 60_000)
  expect(pay().seen).toEqual([false])
  expect(state()).toBe('Expired None')
})
