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

test.each(symbols)(
  'addresses of %s look right, check, and depend on seed and name alone',
  (coin) => {
    const address = makeAddress(coin, 'seed', 'invoice 1')
    expect(address).toMatch(forms[coin])
    expect(isAddress(coin, address)).toBe(true)
    expect(makeAddress(coin, 'seed', 'invoice 1')).toBe(address)
    expect(makeAddress(coin, 'seed', 'invoice 2')).not.toBe(address)
    expect(makeAddress(coin, 'other', 'invoice 1')).not.toBe(address)
  },
)

/** Addresses from the documentation of each chain. */
const published = [
  ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['BTC', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  ['BTC', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
  ['LTC', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
  [
    'XMR',
    '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A',
  ],
  ['ETH', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['USDT', 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs'],
] as const

test.each(published)(
  'a published address of %s is one, and no longer after a slip',
  (coin, address) => {
    expect(isAddress(coin, address)).toBe(true)
    const at = 7
    const slip = address[at] === 'a' ? 'c' : 'a'
    expect(isAddress(coin, address.slice(0, at) + slip + address.slice(at + 1))).toBe(false)
    expect(isAddress(coin, address.slice(0, -1))).toBe(false)
  },
)

test('an address of one coin is none of another', () => {
  for (const coin of symbols) {
    const address = makeAddress(coin, 'seed', 'x')
    for (const other of symbols) expect(isAddress(other, address)).toBe(other === coin)
  }
  for (const coin of symbols)
    for (const text of ['', 'x', '0x', ' ']) {
      expect(isAddress(coin, text)).toBe(false)
    }
})
