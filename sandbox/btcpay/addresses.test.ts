import { expect, test } from 'vitest'
import { isAddress, makeAddress } from './addresses.ts'
import { symbols } from './coins.ts'

const forms = {
  BTC: /^bcrt1q[a-z0-9]{38}$/,
  LTC: /^rltc1q[a-z0-9]{38}$/,
  XMR: /^7[1-9A-HJ-NP-Za-km-z]{94}$/,
  ETH: /^0x[0-9a-fA-F]{40}$/,
  USDT: /^T[1-9A-HJ-NP-Za-km-z]{33}$/,
}

test.each(symbols)('an address of %s looks right, and is one of this coin alone', (coin) => {
  const address = makeAddress(coin, 'seed', 'invoice 1')
  expect(address).toMatch(forms[coin])
  expect(symbols.filter((other) => isAddress(other, address))).toEqual([coin])
  expect(makeAddress(coin, 'seed', 'invoice 1')).toBe(address)
  expect(makeAddress(coin, 'other', 'invoice 1')).not.toBe(address)
})

/** Addresses from the documentation of each chain. */
const published = [
  ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['BTC', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
  ['LTC', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
  [
    'XMR',
    '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A',
  ],
  ['ETH', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['USDT', 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs'],
] as const

test.each(published)('an address of %s is one, and not after a slip: %s', (coin, address) => {
  expect(isAddress(coin, address)).toBe(true)
  const slip = address[7] === 'a' ? 'c' : 'a'
  expect(isAddress(coin, address.slice(0, 7) + slip + address.slice(8))).toBe(false)
  expect(isAddress(coin, address.slice(0, -1))).toBe(false)
})
