import { expect, it } from 'vitest'
import type { InvoicePayment } from '../../checkouts/checkout.ts'
import { statusOf } from './invoice.ts'
import { additionalStatuses, invoiceStatuses } from './schemas.ts'

const expiresAt = new Date('2026-07-01T12:20:00Z')
const before = new Date('2026-07-01T12:10:00Z')
const after = new Date('2026-07-01T12:30:00Z')

function paid(units: bigint, changes: Partial<InvoicePayment> = {}): InvoicePayment {
  return { id: 'p', transaction: 't', units, status: 'SETTLED', receivedAt: before, ...changes }
}

/** One row for each status of BTCPay, one column for each additional one. */
const table = {
  New: ['NEW', undefined, 'NEW', undefined, undefined, undefined],
  Processing: ['PROCESSING', 'EXPIRED', undefined, undefined, undefined, 'PROCESSING'],
  Expired: ['EXPIRED', 'EXPIRED', 'EXPIRED', 'EXPIRED', 'EXPIRED', 'EXPIRED'],
  Invalid: ['INVALID', 'INVALID', 'INVALID', 'INVALID', 'INVALID', 'INVALID'],
  Settled: ['SETTLED', 'EXPIRED', undefined, 'SETTLED', undefined, 'SETTLED'],
} as const

const pairs = invoiceStatuses.flatMap((status) =>
  additionalStatuses.map((additional, at) => [status, additional, table[status][at]] as const),
)

it.each(pairs)('takes %s and %s for %s', (status, additionalStatus, ours) => {
  const judged = { units: 100n, expiresAt, payments: [paid(100n)] }
  expect(statusOf({ status, additionalStatus }, judged, after)).toBe(ours)
})

it('believes no settlement without confirmed money', () => {
  const settled = { status: 'Settled', additionalStatus: 'None' } as const
  const judged = { units: 100n, expiresAt, payments: [paid(100n, { status: 'PROCESSING' })] }
  expect(statusOf(settled, judged, before)).toBeUndefined()
  expect(statusOf(settled, { ...judged, payments: [] }, before)).toBeUndefined()
  // A store at BTCPay may accept a little less than the price (its payment tolerance).
  expect(statusOf(settled, { ...judged, payments: [paid(99n)] }, before)).toBe('SETTLED')
})

const missing = { status: 'INVALID' } as const

it.each<readonly [string, readonly InvoicePayment[], Date, string]>([
  ['all but 5 % of the price', [paid(95n)], after, 'SETTLED'],
  ['less, with time left', [paid(94n), paid(6n, missing)], before, 'NEW'],
  ['less, and the time is over', [paid(1n), paid(99n, missing)], after, 'EXPIRED'],
  [
    'less, and the rest is not confirmed',
    [paid(1n), paid(99n, { status: 'PROCESSING' })],
    after,
    'PROCESSING',
  ],
])('believes a settlement by %s only within the tolerance', (_name, payments, now, ours) => {
  const settled = { status: 'Settled', additionalStatus: 'None' } as const
  expect(statusOf(settled, { units: 100n, expiresAt, payments }, now)).toBe(ours)
})

it.each<readonly [string, readonly InvoicePayment[], Date, string]>([
  ['what was paid', [paid(60n), paid(40n)], after, 'SETTLED'],
  ['what is not confirmed', [paid(60n), paid(40n, { status: 'PROCESSING' })], after, 'PROCESSING'],
  ['what came to nothing', [paid(100n, { status: 'INVALID' })], before, 'NEW'],
  ['too little, with time left', [paid(99n)], before, 'NEW'],
  ['too little, and the time is over', [paid(99n)], after, 'EXPIRED'],
  ['nothing at all', [], after, 'EXPIRED'],
  ['what came late', [paid(100n, { receivedAt: after })], after, 'EXPIRED'],
])('judges an invoice that was marked by hand by %s', (_name, payments, now, ours) => {
  const marked = { status: 'Settled', additionalStatus: 'Marked' } as const
  expect(statusOf(marked, { units: 100n, expiresAt, payments }, now)).toBe(ours)
})
