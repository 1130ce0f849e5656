import { expect, test } from 'vitest'
import { audit, type CoinPayment, coinProblems, type Purchase } from './ledger.ts'

const delivered: Purchase = {
  offerId: 'TEST-VOUCHER-OK',
  orderId: 'ord_1',
  state: 'FULFILLED',
  paid: 500_000n,
  refunded: 0n,
}
const refunded: Purchase = {
  offerId: 'TEST-TOPUP-FAIL',
  orderId: 'ord_2',
  state: 'REFUNDED',
  paid: 600_000n,
  refunded: 600_000n,
}

test('only what was delivered is gone', () => {
  expect(audit([delivered, refunded], { start: 1_000_000n, final: 500_000n })).toEqual({
    spent: 1_100_000n,
    refunded: 600_000n,
    expected: 500_000n,
    problems: [],
  })
})

test('a wallet that holds something else is a problem, in either direction', () => {
  for (const final of [499_999n, 500_001n]) {
    const { problems } = audit([delivered], { start: 1_000_000n, final })
    expect(problems).toEqual([`The wallet holds ${final}, not the expected 500000.`])
  }
})

test('a partial refund is a problem even when another error hides it from the balance', () => {
  const partial = { ...refunded, refunded: 599_999n }
  const { problems } = audit([partial], { start: 1_000_000n, final: 1_000_000n })
  expect(problems).toEqual(['ord_2 is REFUNDED, but of 600000 paid 599999 came back.'])
})

test('money back for goods that were delivered is a problem', () => {
  const both = { ...delivered, refunded: 500_000n }
  expect(audit([both], { start: 1_000_000n, final: 500_000n }).problems).toHaveLength(1)
})

test.each<[string, CoinPayment, number]>([
  ['delivered', { id: 'ord_3', state: 'FULFILLED', paid: 777n, returned: 0n }, 0],
  ['back in full', { id: 'chk_1', state: 'RETURNED', paid: 621n, returned: 621n }, 0],
  ['back in part', { id: 'chk_1', state: 'RETURNED', paid: 621n, returned: 620n }, 1],
  ['back twice', { id: 'chk_1', state: 'RETURNED', paid: 621n, returned: 1_242n }, 1],
  ['delivered and back', { id: 'ord_3', state: 'FULFILLED', paid: 777n, returned: 777n }, 1],
  ['delivered for nothing', { id: 'ord_3', state: 'FULFILLED', paid: 0n, returned: 0n }, 1],
])('a payment in a coin that is %s', (_, payment, problems) => {
  expect(coinProblems([payment])).toHaveLength(problems)
})
