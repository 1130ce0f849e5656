import { beforeEach, expect, test, vi } from 'vitest'
import { createTimers } from '../timers.ts'
import type { Deps } from './deps.ts'
import { createFaults } from './faults.ts'
import { createInvoice, invoiceOf } from './invoices.ts'
import { openLedger } from './ledger.ts'
import { defaults } from './options.ts'
import { pay } from './payments.ts'
import type { StoreEvent } from './webhooks.ts'

beforeEach(() => void vi.useFakeTimers())

/** A server without HTTP, whose clock the test sets. */
function begin() {
  const events: StoreEvent[] = []
  const webhooks = {
    notify: (event: StoreEvent) => void events.push(event),
    forge: async () => 0,
    stop: () => {},
  }
  const deps: Deps = {
    ledger: openLedger(undefined),
    timers: createTimers(),
    settings: { ...defaults, apiKey: 'k', storeId: 's' },
    place: { url: 'http://here', storeId: 's' },
    faults: createFaults(),
    webhooks,
  }
  const checkout = { paymentMethods: ['XMR-CHAIN'], expirationMinutes: 1, monitoringMinutes: 2 }
  const { id } = createInvoice(deps, { amount: '10', checkout }, Date.now())
  const state = () => {
    const { status, additionalStatus } = invoiceOf(deps, id)
    return `${status} ${additionalStatus}`
  }
  const types = () => events.map(({ type }) => type)
  return { deps, id, state, types }
}

test('expires to the moment, and is settled by the chain in its own time', () => {
  const { state, types } = begin()
  vi.advanceTimersByTime(59_999)
  expect(state()).toBe('New None')
  vi.advanceTimersByTime(1)
  expect(state()).toBe('Expired None')
  expect(types()).toEqual(['InvoiceCreated', 'InvoiceExpired'])

  const other = begin()
  pay(other.deps, other.id, {}, Date.now())
  vi.advanceTimersByTime(defaults.confirmMs - 1)
  expect(other.state()).toBe('Processing None')
  vi.advanceTimersByTime(1)
  expect(other.state()).toBe('Settled None')
})

test('one that is paid in time but never confirmed is invalid when the watching ends', () => {
  const { deps, id, state, types } = begin()
  pay(deps, id, { confirm: false }, Date.now())
  vi.advanceTimersByTime(3 * 60_000 - 1)
  expect(state()).toBe('Processing None')
  vi.advanceTimersByTime(1)
  expect(state()).toBe('Invalid None')
  expect(types().at(-1)).toBe('InvoiceInvalid')
})

test('late money makes it paid late once, after it was partly paid', () => {
  const { deps, id, state, types } = begin()
  pay(deps, id, { units: 5n }, Date.now())
  vi.advanceTimersByTime(60_000)
  expect(state()).toBe('Expired PaidPartial')
  pay(deps, id, {}, Date.now())
  pay(deps, id, {}, Date.now())
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
  const { deps, id, state } = begin()
  vi.advanceTimersByTime(3 * 60_000)
  expect(pay(deps, id, {}, Date.now()).isSeen).toBe(false)
  expect(state()).toBe('Expired None')
})
