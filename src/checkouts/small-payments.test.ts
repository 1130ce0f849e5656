import { expect, it } from 'vitest'
import { usdc } from '../primitives/money.ts'
import type { InvoicePayment } from './checkout.ts'
import { withSmallOnesAsOne } from './small-payments.ts'

const expiresAt = new Date('2026-07-01T12:00:00Z')
/** 25 dollars are 50,000 units, so 100 units are 0.05 dollars. */
const price = { amount: usdc(25_000_000n), units: 50_000n, expiresAt }

function payment(id: string, units: bigint, changes: Partial<InvoicePayment> = {}): InvoicePayment {
  const receivedAt = new Date(expiresAt.getTime() - 1_000)
  return { id, transaction: `tx-${id}`, units, status: 'SETTLED', receivedAt, ...changes }
}

it('leaves what is worth 0.05 dollars or more as it is', () => {
  const payments = [payment('a', 100n), payment('b', 50_000n)]
  expect(withSmallOnesAsOne(payments, price)).toEqual(payments)
})

it('makes one of the small ones of a status, late ones apart, and loses no unit', () => {
  const late = { receivedAt: new Date(expiresAt.getTime() + 1_000) }
  const payments = [
    payment('a', 50_000n),
    payment('b', 1n),
    payment('c', 99n, { receivedAt: new Date(0) }),
    payment('d', 5n, { status: 'PROCESSING' }),
    payment('e', 7n, late),
  ]
  const read = withSmallOnesAsOne(payments, price)
  expect(read.map(({ id, units, transaction }) => [id, units, transaction])).toEqual([
    ['a', 50_000n, 'tx-a'],
    ['small-in-time-settled', 100n, 'tx-c'],
    ['small-in-time-processing', 5n, 'tx-d'],
    ['small-late-settled', 7n, 'tx-e'],
  ])
  expect(withSmallOnesAsOne(payments.toReversed(), price).slice(1)).toEqual(
    expect.arrayContaining(read.slice(1)),
  )
})

it('takes what is one already for what it is', () => {
  const payments = [payment('b', 1n), payment('c', 2n), payment('d', 60n, { status: 'INVALID' })]
  const read = withSmallOnesAsOne(payments, price)
  expect(withSmallOnesAsOne(read, price)).toEqual(read)
})
