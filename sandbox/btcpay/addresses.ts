import { createECDH, createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { base58xmr, createBase58check } from '@scure/base'
import { getAddress as bitcoinAddress, Address as bitcoinCoder } from '@scure/btc-signer'
import type { Ticker } from './coins.ts'

type Network = NonNullable<Parameters<typeof bitcoinCoder>[0]>

const bitcoin = {
  regtest: { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  testnet: { bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  mainnet: { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
} satisfies Record<string, Network>

const litecoin = {
  regtest: { bech32: 'rltc', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef },
  testnet: { bech32: 'tltc', pubKeyHash: 0x6f, scriptHash: 0x3a, wif: 0xef },
  mainnet: { bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, wif: 0xb0 },
} satisfies Record<string, Network>

const base58check = createBase58check((bytes: Uint8Array) =>
  createHash('sha256').update(bytes).digest(),
)

/** The first byte of Monero addresses: standard, integrated and subaddress, by network. */
const moneroPrefixes = {
  mainnet: [18, 19, 42],
  testnet: [53, 54, 63],
  stagenet: [24, 25, 36],
} as const

/**
 * A valid address on the test network of its coin. The same seed and name give the same address. It gives nobody a key
 * to real money.
 */
export function makeAddress(coin: Ticker, seed: string, name: string): string {
  const key = digest(seed, coin, name)
  switch (coin) {
    case 'BTC':
      return bitcoinAddress('wpkh', key, bitcoin.regtest)
    case 'LTC':
      return bitcoinAddress('wpkh', key, litecoin.regtest)
    case 'XMR':
      return moneroAddress(publicKey(key), publicKey(digest(seed, 'view', name)))
    case 'ETH':
      return withChecksum(accountOf(key).toString('hex'))
    case 'USDT':
      return base58check.encode(Buffer.concat([Buffer.from([0x41]), accountOf(key)]))
    default:
      return coin satisfies never
  }
}

/** Whether a payout could go there: a valid address of the coin, on any of its networks. */
export function isAddress(coin: Ticker, text: string): boolean {
  switch (coin) {
    case 'BTC':
      return Object.values(bitcoin).some((network) => decodes(text, network))
    case 'LTC':
      return Object.values(litecoin).some((network) => decodes(text, network))
    case 'XMR':
      return isMoneroAddress(text)
    case 'ETH':
      return isEthereumAddress(text)
    case 'USDT':
      return isTronAddress(text)
    default:
      return coin satisfies never
  }
}

/** The 20 bytes of an Ethereum account: the end of the hash of its public key. */
function accountOf(key: Buffer): Buffer {
  const pair = createECDH('secp256k1')
  pair.setPrivateKey(key)
  return Buffer.from(keccak_256(pair.getPublicKey().subarray(1))).subarray(-20)
}

/** The address of 40 hexadecimal digits, with the checksum of ERC-55 in its capitals. */
function withChecksum(digits: string): string {
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex')
  const cased = [...digits].map((digit, at) =>
    Number(`0x${hash[at]}`) < 8 ? digit : digit.toUpperCase(),
  )
  return `0x${cased.join('')}`
}

function isEthereumAddress(text: string): boolean {
  const [, digits] = /^0x([0-9a-fA-F]{40})$/.exec(text) ?? []
  return (
    digits !== undefined &&
    (digits === digits.toLowerCase() || withChecksum(digits.toLowerCase()) === text)
  )
}

/** A Tron address is the byte 0x41 and an address as on Ethereum. */
function isTronAddress(text: string): boolean {
  try {
    const bytes = base58check.decode(text)
    return bytes.length === 21 && bytes[0] === 0x41
  } catch {
    return false
  }
}

function decodes(text: string, network: Network): boolean {
  try {
    bitcoinCoder(network).decode(text)
    return true
  } catch {
    return false
  }
}

/** A subaddress of stagenet: a prefix, two public keys and the first bytes of their Keccak hash. */
function moneroAddress(spend: Buffer, view: Buffer): string {
  const body = Buffer.concat([Buffer.from([moneroPrefixes.stagenet[2]]), spend, view])
  return base58xmr.encode(Buffer.concat([body, moneroChecksum(body)]))
}

function isMoneroAddress(text: string): boolean {
  const bytes = moneroBytes(text)
  const prefixes: readonly number[] = Object.values(moneroPrefixes).flat()
  if (bytes === undefined || !prefixes.includes(bytes[0] ?? -1)) return false
  // An integrated address also contains a payment id of 8 bytes.
  if (bytes.length !== 69 && bytes.length !== 77) return false
  return moneroChecksum(bytes.subarray(0, -4)).equals(bytes.subarray(-4))
}

function moneroBytes(text: string): Buffer | undefined {
  try {
    return Buffer.from(base58xmr.decode(text))
  } catch {
    return undefined
  }
}

function moneroChecksum(body: Uint8Array): Buffer {
  return Buffer.from(keccak_256(body)).subarray(0, 4)
}

/** An ed25519 public key, like both keys of a Monero address. */
function publicKey(seed: Buffer): Buffer {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}

/** 32 bytes that depend only on the parts. */
export function digest(...parts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}
