import { expect, test } from 'vitest'
import { demoAt, orderIn, transaction } from '../demo.fixture.ts'
import { scriptedStore } from '../scripted-store.fixture.ts'
import { awaitRefund, transferOf } from './refund.ts'

const path = '/api/catalog/orders/ord_1/refund'
const wallet = '0x00000000000000000000000000000000000000aA'
const other = '0x00000000000000000000000000000000000000bB'
const failed = orderIn('FULFILLMENT_FAILED', { refund_contract: { endpoint: path } })

const pending = {
  refundId: 'ref_1',
  state: 'REFUND_PENDING',
  refund_to: wallet,
  amount_atomic: '600000',
  amount_atomic_refunded: null,
  transactionHash: null,
}
const done = {
  ...pending,
  state: 'REFUNDED',
  amount_atomic_refunded: '600000',
  transactionHash: transaction,
}
const refund = { ...done, amount_atomic: 600_000n, amount_atomic_refunded: 600_000n } as const

test('a refund is watched where the order says, until it is done', async () => {
  const { url } = await scriptedStore({
    [`GET ${path}`]: [
      { status: 202, body: pending, headers: { 'retry-after': '3' } },
      { status: 200, body: done },
    ],
  })
  const { demo, waited } = demoAt(url)
  expect(await awaitRefund(demo, { order: failed })).toEqual(refund)
  expect(waited).toEqual([3])
})

test('a refund that does not come is given up after a minute', async () => {
  const still = Array.from({ length: 20 }, () => ({ status: 202, body: pending }))
  const { url } = await scriptedStore({ [`GET ${path}`]: still })
  const { demo, waited } = demoAt(url)
  await expect(awaitRefund(demo, { order: failed })).rejects.toThrow('is still due')
  expect(waited).toHaveLength(12)
})

test('an order without a refund is a fault of the store', async () => {
  const { demo } = demoAt('http://127.0.0.1:9')
  const order = orderIn('FULFILLMENT_FAILED')
  await expect(awaitRefund(demo, { order })).rejects.toThrow('names no refund')
})

test.each([
  ['the whole sum to the wallet', [{ from: other, to: wallet, value: 600_000n }], true],
  ['a part of the sum', [{ from: other, to: wallet, value: 599_999n }], false],
  ['the sum to somebody else', [{ from: wallet, to: other, value: 600_000n }], false],
  ['nothing', [], false],
] as const)('the chain decides: %s', async (_, transfers, good) => {
  const buyer = { address: wallet, transfersIn: async () => transfers } as const
  const checked = transferOf(demoAt('http://127.0.0.1:9', buyer).demo, refund, 600_000n)
  if (good) expect(await checked).toMatchObject({ from: other, value: 600_000n, transaction })
  else await expect(checked).rejects.toThrow('does not bring 600000')
})

test('a refund that failed is not looked for on the chain', async () => {
  const { demo } = demoAt('http://127.0.0.1:9')
  const broken = { ...refund, state: 'REFUND_FAILED' }
  await expect(transferOf(demo, broken, 600_000n)).rejects.toThrow('but is REFUND_FAILED')
})
