import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { base58xmr, createBase58check } from '@scure/base'
import { getAddress as bitcoinAddress, Address as bitcoinCoder } from '@scure/btc-signer'
import { privateKeyToAddress } from 'viem/accounts'
import { isAddress as isEthereumAddress, keccak256 } from 'viem/utils'
import type { Ticker } from './coins.ts'

const network = (bech32: string, pubKeyHash: number, scriptHash: number, wif: number) => ({
  ...{ bech32, pubKeyHash, scriptHash, wif },
})

/** The test network of the sandbox first, then others on which an address may be. */
const networks = {
  BTC: [
    network('bcrt', 0x6f, 0xc4, 0xef),
    network('tb', 0x6f, 0xc4, 0xef),
    network('bc', 0, 5, 0x80),
  ],
  LTC: [
    network('rltc', 0x6f, 0x3a, 0xef),
    network('tltc', 0x6f, 0x3a, 0xef),
    network('ltc', 0x30, 0x32, 0xb0),
  ],
} as const

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const base58check = createBase58check(sha256)

const moneroSubaddress = 36
/** The first byte of Monero addresses: standard, integrated and subaddress, of mainnet, testnet and stagenet. */
const moneroPrefixes = [18, 19, 42, 53, 54, 63, 24, 25, moneroSubaddress]

/**
 * A valid address on the test network of its coin. The same seed and name give the same address. It gives nobody a key
 * to real money.
 */
export function makeAddress(coin: Ticker, seed: string, name: string): string {
  const key = digest(seed, coin, name)
  switch (coin) {
    case 'BTC':
    case 'LTC':
      return bitcoinAddress('wpkh', key, networks[coin][0])
    case 'XMR':
      return moneroAddress(publicKey(key), publicKey(digest(seed, 'view', name)))
    case 'ETH':
      return ethereumAddress(key)
    case 'USDT':
      return base58check.encode(Buffer.from(`41${ethereumAddress(key).slice(2)}`, 'hex'))
    default:
      return coin satisfies never
  }
}

/** Whether a payout could go there: a valid address of the coin, on any of its networks. */
export function isAddress(coin: Ticker, text: string): boolean {
  switch (coin) {
    case 'BTC':
    case 'LTC':
      return networks[coin].some((one) => isRight(() => Boolean(bitcoinCoder(one).decode(text))))
    case 'XMR':
      return isRight(() => isMonero(Buffer.from(base58xmr.decode(text))))
    case 'ETH':
      return isEthereumAddress(text)
    case 'USDT':
      // The byte 0x41 and an address as on Ethereum.
      return isRight(() => {
        const bytes = base58check.decode(text)
        return bytes.length === 21 && bytes[0] === 0x41
      })
    default:
      return coin satisfies never
  }
}

function isRight(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}

function ethereumAddress(key: Buffer): string {
  return privateKeyToAddress(`0x${key.toString('hex')}`)
}

/** A prefix, two public keys and the first bytes of their Keccak hash. */
function moneroAddress(spend: Buffer, view: Buffer): string {
  const body = Buffer.concat([Buffer.from([moneroSubaddress]), spend, view])
  return base58xmr.encode(Buffer.concat([body, moneroChecksum(body)]))
}

/** An integrated address also contains a payment id of 8 bytes. */
function isMonero(bytes: Buffer): boolean {
  const isLong = bytes.length === 69 || bytes.length === 77
  const checksum = moneroChecksum(bytes.subarray(0, -4))
  return isLong && moneroPrefixes.includes(bytes[0] ?? 0) && checksum.equals(bytes.subarray(-4))
}

function moneroChecksum(body: Uint8Array): Buffer {
  return Buffer.from(keccak256(body, 'bytes')).subarray(0, 4)
}

/** An ed25519 public key, like both keys of a Monero address. */
function publicKey(seed: Buffer): Buffer {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
}

export function digest(...parts: readonly string[]): Buffer {
  return sha256(Buffer.from(JSON.stringify(parts)))
}
