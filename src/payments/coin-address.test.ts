import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AddressFault } from '../lib/refusal.ts'
import { type Coin, coins, formatUnits, parseUnits, readAddress } from './coins.ts'

const BTC = { coin: 'BTC', network: 'Bitcoin' } as const
const LTC = { coin: 'LTC', network: 'Litecoin' } as const
const XMR = { coin: 'XMR', network: 'Monero' } as const
const ETH = { coin: 'ETH', network: 'Ethereum' } as const
const USDT = { coin: 'USDT', network: 'Ethereum' } as const
const TRON = { coin: 'USDT', network: 'Tron' } as const
type Method = { readonly coin: Coin; readonly network: string }

/** Published addresses: from BIP-173, BIP-350 and EIP-55, and the projects' donation addresses. */
const samples: readonly (readonly [Method, string])[] = [
  [BTC, '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
  [BTC, '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
  [BTC, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  [BTC, 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
  [LTC, 'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1'],
  [LTC, 'MGxNPPB7eBoWPUaprtX9v9CXJZoD2465zN'],
  [LTC, 'ltc1qg42tkwuuxefutzxezdkdel39gfstuap288mfea'],
  [ETH, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  [ETH, '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
  [ETH, '0x52908400098527886E0F7030069857D2E4169EE7'],
  [USDT, '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb'],
  [TRON, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  // Begins like an address of Bitcoin's test network.
  [TRON, 'TB18Ch9Ln4gubZUZkCUZYEQa6qmtLc3VTA'],
  [
    XMR,
    '44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A',
  ],
  [
    XMR,
    '888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H',
  ],
  [
    XMR,
    '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK',
  ],
]

const testSamples: readonly (readonly [Method, string])[] = [
  [BTC, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  [BTC, 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  [LTC, 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  [BTC, '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc'],
]

describe('takes', () => {
  it.each(samples)('%o %s', (method, address) => {
    expect(readAddress(method, address)).toEqual({ outcome: 'good', address })
  })

  it.each(samples)('%o %s as people paste it', (method, address) => {
    expect(readAddress(method, `\n  ${address}\t`)).toEqual({ outcome: 'good', address })
  })

  it.each([
    [BTC, 'bitcoin:BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4?amount=0.1&label=a%20b'],
    [BTC, 'BITCOIN:BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
    [BTC, 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4'],
  ])('a link or capitals, in one spelling: %o %s', (method, text) => {
    const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    expect(readAddress(method, text)).toEqual({ outcome: 'good', address })
  })

  const ether = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  it.each([
    ether.toLowerCase(),
    `0x${ether.slice(2).toUpperCase()}`,
    `ethereum:${ether}@1?value=1e18`,
    `ethereum:pay-${ether}`,
  ])('the spellings of Ethereum: %s', (text) => {
    expect(readAddress(ETH, text)).toEqual({ outcome: 'good', address: ether })
  })

  it.each(testSamples)('%o %s where the network is one for tests', (method, address) => {
    expect(readAddress(method, address, { isTestnet: true })).toEqual({ outcome: 'good', address })
    expect(readAddress(method, address)).toMatchObject({ outcome: 'bad', fault: 'test_network' })
  })
})

describe('refuses', () => {
  it.each<readonly [Method, string, AddressFault]>([
    [BTC, '   ', 'missing'],
    [BTC, 'bc1q w508d', 'spaces'],
    [BTC, 'my wallet'.replace(' ', ''), 'no_address'],
    [ETH, 'vitalik.eth', 'no_address'],
    [BTC, `bc1${'q'.repeat(2_000)}`, 'no_address'],
    [BTC, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'wrong_coin'],
    [ETH, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'wrong_coin'],
    [LTC, '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'wrong_coin'],
    [USDT, 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'wrong_coin'],
    [TRON, '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb', 'wrong_coin'],
    [LTC, 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'wrong_coin'],
    [ETH, 'ethereum:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed/transfer?address=0x1', 'link'],
    [BTC, 'lightning:LNURL1DP68GURN8GHJ7', 'link'],
    // Its checksum is that of the other Bech32 version (BIP-350).
    [BTC, 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd', 'mistyped'],
    [BTC, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4', 'mistyped'],
    [BTC, 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t', 'mistyped'],
    [ETH, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe', 'mistyped'],
    [ETH, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed', 'mistyped'],
    [ETH, `0x${'0'.repeat(40)}`, 'unpayable'],
    [BTC, 'bc1pfeessrawgf', 'unpayable'],
    [LTC, 'ltcmweb1qqcmsp0', 'unpayable'],
    // An address of a real network is never one of a test network.
    [BTC, 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'test_network'],
  ])('%o %s: %s', (method, text, fault) => {
    expect(readAddress(method, text)).toEqual({ outcome: 'bad', fault })
  })

  it.each([...samples, ...testSamples])('%o %s of every other coin', (method, address) => {
    const options = { isTestnet: true }
    const others = coins.filter((coin) => coin !== method.coin && coin !== 'USDT' && coin !== 'ETH')
    for (const coin of others) {
      // Bitcoin and Litecoin share the older addresses of their test networks.
      if (/^m/.test(address) && ['BTC', 'LTC'].includes(coin)) continue
      expect(readAddress({ coin, network: 'x' }, address, options)).toMatchObject({
        fault: 'wrong_coin',
      })
    }
  })

  const letters = '019AKZaqz'
  // An Ethereum address in a single case has no checksum.
  const checked = samples.filter(([, address]) => !/^0x[0-9A-F]+$/.test(address))

  it.each(checked)('%o %s with any one character changed', (method, address) => {
    const changes = Array.from(address).flatMap((old, at) =>
      Array.from(letters).flatMap((letter) => {
        const changed = `${address.slice(0, at)}${letter}${address.slice(at + 1)}`
        return letter === old ? [] : [changed]
      }),
    )
    const taken = changes.filter((changed) => readAddress(method, changed).outcome === 'good')
    expect(taken).toEqual([])
  })

  it.each(checked)('%o %s with two neighbours swapped, or one lost', (method, address) => {
    for (let at = 0; at < address.length - 1; at += 1) {
      const [one = '', other = ''] = address.slice(at, at + 2)
      const rest = address.slice(at + 2)
      const swapped = `${address.slice(0, at)}${other}${one}${rest}`
      const lost = `${address.slice(0, at)}${other}${rest}`
      if (one !== other) expect(readAddress(method, swapped).outcome, swapped).toBe('bad')
      expect(readAddress(method, lost).outcome, lost).toBe('bad')
    }
  })

  it('never throws, whatever it is given', () => {
    const methods = fc.constantFrom(BTC, LTC, XMR, ETH, USDT, TRON)
    const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constantFrom(...letters))
    fc.assert(
      fc.property(
        methods,
        fc.array(text, { maxLength: 80 }),
        fc.boolean(),
        (method, parts, isTestnet) => {
          const joined = parts.join('')
          expect(readAddress(method, joined, { isTestnet })).toHaveProperty('outcome')
        },
      ),
    )
  })
})

it.each([
  ['BTC', '0.00000001'],
  ['ETH', '0.000000000000000001'],
  ['USDT', '0.000001'],
  ['LTC', '0.00000001'],
  ['XMR', '0.000000000001'],
] as const)('the smallest unit of %s is %s', (coin, text) => {
  expect(formatUnits(1n, coin)).toBe(text)
  expect(parseUnits(text, coin)).toBe(1n)
})
