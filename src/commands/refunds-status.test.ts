import { expect, test } from 'vitest'
import { newCheckoutId, newOrderId } from '../../test/doubles/ids.ts'
import { refundTo } from '../../test/fixtures/sample-checkouts.ts'
import type { OpenPayout, PayoutQueue } from '../adapters/storage/payouts.ts'
import { returnReference } from '../checkouts/checkout.ts'
import type { CoinPayout } from '../checkouts/ports.ts'
import { usdc } from '../lib/money.ts'
import { statusLines } from './refunds.ts'

const id = newOrderId()

const at = new Date('2026-03-01T10:00:00Z')
const calm: PayoutQueue = {
  turned: { stopped: false, reason: null, by: null, at },
  granted: { hour: usdc(0n), day: usdc(12_500_000n) },
  returned: { hour: usdc(1_000_000n), day: usdc(2_000_000n) },
  given: { hour: usdc(0n), day: usdc(5_000_000n) },
  open: [],
}
const caps = { hour: usdc(1_000_000_000n), day: usdc(5_000_000_000n) }

test('the status names what goes back in coins as a wallet takes it, and what to pay by hand', () => {
  const checkout = newCheckoutId()
  const failed = { state: 'FAILED', code: 'operator_pays', reason: null, isNoted: false } as const
  const give = (
    seq: number,
    inCoin: Partial<CoinPayout>,
    changes: Partial<OpenPayout> = {},
  ): OpenPayout => {
    const one = { reference: returnReference(checkout, seq), to: refundTo }
    const units = 1_234_500_000_000n
    return {
      ...{ ...one, invoice: 'inv', worth: usdc(2_000_000n), ...failed, since: at },
      inCoin: { ...one, coin: 'XMR', network: 'Monero', units, ...inCoin },
      ...changes,
    }
  }
  const refund = {
    ...{ reference: id, invoice: null, worth: usdc(650_000n), to: '4Address', ...failed },
    inCoin: { reference: id, coin: 'XMR', network: 'Monero', units: 5n, to: '4Address' },
    since: new Date('2026-02-01T10:00:00Z'),
  } as const
  const open = [
    refund,
    give(1, {}),
    give(2, { coin: 'BTC', units: 1n }, { state: 'APPROVED', code: null }),
    give(3, { coin: 'LTC', units: 10n ** 8n }, { code: 'no_funds' }),
    give(4, { coin: 'USDT', network: 'Tron', units: 25_000_000n }, { code: 'note_transaction' }),
    // It was noted, and the store has not booked it yet.
    give(5, {}, { isNoted: true }),
  ]
  const lines = statusLines({ ...calm, open }, caps)
  const since = 'since 2026-03-01T10:00:00.000Z'
  expect(lines.slice(5)).toEqual([
    'Refunds failed and waiting for you: 2, 4.00 USDC',
    `  ${checkout}-3           1 LTC  to ${refundTo}  no_funds  ${since}`,
    `  ${checkout}-5      1.2345 XMR  to ${refundTo}  operator_pays  ${since}`,
    'Refunds under way: 1, 2.00 USDC',
    `  ${checkout}-2  0.00000001 BTC  to ${refundTo}  APPROVED  ${since}`,
    '',
    'To be paid by you: 2',
    `  ${id}  since 2026-02-01T10:00:00.000Z`,
    '      0.000000000005 XMR on Monero',
    '      to 4Address',
    `  ${checkout}-1  ${since}`,
    '      1.2345 XMR on Monero',
    `      to ${refundTo}`,
    'Paid by BTCPay, of which you know the transaction: 1',
    `  ${checkout}-4  ${since}`,
    '      25 USDT on Tron',
    `      to ${refundTo}`,
    'Then say so: npm run refunds -- paid REFERENCE TRANSACTION',
  ])
})
