import { expect, test } from 'vitest'
import { paymentLinkFor } from './invoice-card.ts'

const to = '0x1111111111111111111111111111111111111111'

test.each([
  ['bitcoin:bc1q?amount=1&label=x', 'BTC', 39_063n, 'bitcoin:bc1q?amount=0.00039063&label=x'],
  ['litecoin:ltc1?amount=0.25', 'LTC', 1n, 'litecoin:ltc1?amount=0.00000001'],
  [
    'monero:888?tx_amount=1&recipient_name=y',
    'XMR',
    150_000_000_000n,
    'monero:888?tx_amount=0.15&recipient_name=y',
  ],
  [`ethereum:${to}@1?value=8`, 'ETH', 10n ** 16n, `ethereum:${to}@1?value=10000000000000000`],
  [
    `ethereum:0xdAC1@1/transfer?address=${to}&uint256=5`,
    'USDT',
    15_000_000n,
    `ethereum:0xdAC1@1/transfer?address=${to}&uint256=15000000`,
  ],
] as const)('%s carries the amount that is asked for', (link, coin, units, wanted) => {
  expect(paymentLinkFor(link, coin, units)).toBe(wanted)
})

test.each([
  ['javascript:alert(1)?amount=1', 'BTC'],
  ['https://pay.example?amount=1', 'BTC'],
  ['bitcoin:bc1q', 'BTC'],
  ['bitcoin:bc1q?amount=1 onclick', 'BTC'],
  [`ethereum:${to}?amount=1`, 'ETH'],
  ['tron:T1?amount=1', 'USDT'],
  ['', 'XMR'],
] as const)('%s is no link to offer', (link, coin) => {
  expect(paymentLinkFor(link, coin, 1n)).toBeUndefined()
})
