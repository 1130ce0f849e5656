import { expect, test } from 'vitest'
import { memoryPayouts, noHands } from '../../test/doubles/memory-payouts.ts'
import { usdc } from '../lib/money.ts'
import type { InvoiceRefund, PaidBack } from '../payments/payment.ts'
import type { Invoice } from './checkout.ts'
import { type CheckoutEvent, type InvoiceRead, noProcessor } from './ports.ts'
import { invoiceMethod, payoutWatch } from './returns.ts'

const hour = 3_600_000
const pending: PaidBack = { outcome: 'pending', reason: 'the payout waits in BTCPay to be sent' }
const paid: PaidBack = { outcome: 'paid', transaction: 'tx' }

function watching() {
  const clock = { at: Date.parse('2026-07-01T12:00:00Z') }
  const told: CheckoutEvent[] = []
  const watch = payoutWatch(
    memoryPayouts(() => new Date(clock.at)),
    (one) => told.push(one),
  )
  return { clock, told, watch }
}

test('a payout that waits for hours is told to an operator once, with the reason', async () => {
  const { clock, told, watch } = watching()
  for (let at = 0; at < 10; at += 1) {
    expect(await watch('ord_1', pending)).toBe(pending)
    clock.at += hour
  }
  expect(told).toEqual([{ name: 'payout_waits', payout: 'ord_1', reason: pending.reason }])
})

test('one that is sent, or that an operator was told of otherwise, is not', async () => {
  const { clock, told, watch } = watching()
  await watch('ord_1', pending)
  clock.at += 2 * hour
  expect(await watch('ord_1', paid)).toBe(paid)
  await watch('ord_1', pending)
  clock.at += 2 * hour
  await watch('ord_1', pending)
  expect(told).toEqual([])
})

const refund: InvoiceRefund = {
  ...({ method: 'btcpay', invoice: 'inv', network: 'Bitcoin', to: 'BTC:bc1q' } as const),
  ...{ amount: usdc(1n), reference: 'ord_1', units: 1n },
}
const emptied: InvoiceRead = {
  outcome: 'found',
  invoice: { payments: [] } as unknown as Invoice,
}
const noOrders = { checkouts: { findByOrder: async () => undefined } }
const reading = (read: InvoiceRead) => ({ ...noProcessor, read: async () => read })

test.each<[string, InvoiceRead]>([
  ['has lost the invoice', { outcome: 'unknown', reason: 'lost', isGone: true }],
  ['does not answer', { outcome: 'unknown', reason: 'nobody answers' }],
  ['shows no money of it any more', emptied],
])('one that an operator noted is paid when the processor %s', async (_, read) => {
  const hands = { find: async () => 'tx-by-hand' }
  const method = invoiceMethod({
    ...noOrders,
    processor: reading(read),
    hands,
    watch: watching().watch,
  })
  expect(await method.payBack(refund)).toEqual({ outcome: 'paid', transaction: 'tx-by-hand' })
})

test('one whose invoice shows the money no more does not count as waiting', async () => {
  const { clock, told, watch } = watching()
  await watch('ord_1', pending)
  clock.at += 2 * hour
  const deps = { ...noOrders, processor: reading(emptied), hands: noHands, watch }
  const paid = await invoiceMethod(deps).payBack(refund)
  expect(paid).toMatchObject({ outcome: 'blocked', code: 'payment_not_shown' })
  await watch('ord_1', pending)
  clock.at += 2 * hour
  await watch('ord_1', pending)
  expect(told).toEqual([])
})
