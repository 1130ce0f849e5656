import { createHash } from 'node:crypto'
import { base58xmr, createBase58check } from '@scure/base'
import { Address } from '@scure/btc-signer'
import { formatUnits as formatDecimal, getAddress, keccak256 } from 'viem/utils'
import { cryptoCurrencies } from '../catalog/lists.ts'
import type { AddressFault } from '../lib/refusal.ts'

/** A coin that people can pay in, besides USDC from a wallet; the index lists them in `accepts_crypto`. */
export type Coin = (typeof cryptoCurrencies)[number]

export const coins: readonly Coin[] = cryptoCurrencies

/** How many decimals the smallest unit of each coin has: 1 BTC is 100_000_000 satoshi. */
export const coinDecimals: Readonly<Record<Coin, number>> = {
  BTC: 8,
  ETH: 18,
  USDT: 6,
  LTC: 8,
  XMR: 12,
}

interface CoinAbilities {
  /** Whether a payment after the invoice expired is detected; otherwise it goes unnoticed. */
  readonly isSeenLate: boolean
  /** Whether addresses come from a fixed list, each serving one checkout at a time. */
  readonly isPooled: boolean
}

/** The USDt plugin has a fixed list of addresses and watches one only while an invoice waits there. */
export const coinAbilities: Readonly<Record<Coin, CoinAbilities>> = {
  BTC: { isSeenLate: true, isPooled: false },
  ETH: { isSeenLate: true, isPooled: false },
  USDT: { isSeenLate: false, isPooled: true },
  LTC: { isSeenLate: true, isPooled: false },
  XMR: { isSeenLate: true, isPooled: false },
}

/** As wallets accept it: "0.00123", without an exponent and without trailing zeros. */
export function formatUnits(units: bigint, coin: Coin): string {
  return formatDecimal(units, coinDecimals[coin])
}

/** Incoming amounts are never rounded. @throws when the text is no amount of the coin */
export function parseUnits(text: string, coin: Coin): bigint {
  const [, whole = '', fraction = ''] = /^(\d{1,20})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  const decimals = coinDecimals[coin]
  const digits = fraction.slice(0, decimals).padEnd(decimals, '0')
  if (whole === '' || /[1-9]/.test(fraction.slice(decimals))) {
    throw new Error(`"${text}" is not an amount of ${coin}`)
  }
  return BigInt(whole + digits)
}

export type AddressRead =
  /** In canonical form: the same address is always the same text. */
  | { readonly outcome: 'good'; readonly address: string }
  | { readonly outcome: 'bad'; readonly fault: AddressFault }

/** As a person pasted it, or as a wallet link. Every checksum is verified: money sent to a wrong address is lost. */
export function readAddress(
  { coin, network }: { readonly coin: Coin; readonly network: string },
  text: string,
  { isTestnet = false }: { readonly isTestnet?: boolean } = {},
): AddressRead {
  const expectedChain = chainOf(coin, network)
  const typed = text.trim()
  if (typed === '') return faulty('missing')
  if (/\s/.test(typed)) return faulty('spaces')
  if (typed.length > 1_000) return faulty('no_address')

  const linked = withoutLink(typed)
  if (linked === undefined) return faulty('link')
  if (linked.chain !== undefined && linked.chain !== expectedChain) return faulty('wrong_coin')
  const candidate = recognise(linked.address)
  return candidate === undefined
    ? faulty('no_address')
    : judgeAddress(candidate, expectedChain, isTestnet)
}

function judgeAddress(
  candidate: Recognised,
  expectedChain: Chain,
  isTestnet: boolean,
): AddressRead {
  const chainsMeant = candidate.is === 'address' ? candidate.chains : [candidate.chain]
  if (!chainsMeant.includes(expectedChain)) return faulty('wrong_coin')
  if (candidate.is !== 'address') return faulty(candidate.is)
  if (candidate.isTest && !isTestnet) return faulty('test_network')
  return { outcome: 'good', address: candidate.address }
}

const kinds = [recogniseEthereum, recogniseBech32, recogniseBase58, recogniseMonero]

/** A valid address wins over a guess that the text is a mistyped address of another chain. */
function recognise(text: string): Recognised | undefined {
  const candidates = kinds.flatMap((kind) => kind(text) ?? [])
  return candidates.find(({ is }) => is === 'address') ?? candidates[0]
}

/** Who spends what is sent to this address, whichever way it is written; undefined for a text that is no address. */
export function ownerOf(text: string): string | 'mistyped' | undefined {
  const recognised = recognise(text)
  if (recognised?.is === 'mistyped') return 'mistyped'
  return recognised?.is === 'address' ? recognised.owner : undefined
}

function chainOf(coin: Coin, network: string): Chain {
  switch (coin) {
    case 'BTC':
      return 'Bitcoin'
    case 'LTC':
      return 'Litecoin'
    case 'XMR':
      return 'Monero'
    case 'ETH':
      return 'Ethereum'
    case 'USDT':
      return /tron/i.test(network) ? 'Tron' : 'Ethereum'
  }
}

interface Linked {
  readonly address: string
  readonly chain?: Chain
}

/** BIP-21, EIP-681, Monero's; an amount is ignored. Undefined for any other link, such as one that calls a token. */
function withoutLink(text: string): Linked | undefined {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(?:\/\/)?(.*)$/i.exec(text) ?? []
  if (scheme === undefined) return { address: text }
  const chain = chains.find((one) => one.toLowerCase() === scheme.toLowerCase())
  const [path = ''] = rest.split('?')
  // "ethereum:pay-0x…@8453" names the chain too; with "/transfer" after it, the address would be a token's.
  const address = chain === 'Ethereum' ? path.replace(/^pay-|@\d+$/g, '') : path
  return chain === undefined || address.includes('/') ? undefined : { address, chain }
}

function faulty(fault: AddressFault): AddressRead {
  return { outcome: 'bad', fault }
}

const chains = ['Bitcoin', 'Litecoin', 'Ethereum', 'Tron', 'Monero'] as const
type Chain = (typeof chains)[number]

/** What a text is by its format alone. EVM chains share one address format and are all called Ethereum here. */
type Recognised =
  | {
      readonly is: 'address'
      /** Several where chains share an address version, as test networks do. */
      readonly chains: readonly Chain[]
      /** In canonical form. */
      readonly address: string
      /** The key, or the script, that spends what is sent there: the same for all of its addresses. */
      readonly owner: string
      readonly isTest: boolean
    }
  /** Meant for this chain, but a character is wrong, missing or extra. */
  | { readonly is: 'mistyped'; readonly chain: Chain }
  /** An address of this chain that money must not be sent to. */
  | { readonly is: 'unpayable'; readonly chain: Chain }

const prefixes: Readonly<Record<string, { readonly chain: Chain; readonly isTest: boolean }>> = {
  bc: { chain: 'Bitcoin', isTest: false },
  tb: { chain: 'Bitcoin', isTest: true },
  bcrt: { chain: 'Bitcoin', isTest: true },
  ltc: { chain: 'Litecoin', isTest: false },
  tltc: { chain: 'Litecoin', isTest: true },
  rltc: { chain: 'Litecoin', isTest: true },
}

/** How the owner of an address is written: a hash of 20 bytes follows. */
type Form = 'key:' | 'script:' | '0x'

const versions: Readonly<
  Record<
    number,
    { readonly chains: readonly Chain[]; readonly isTest: boolean; readonly form: Form }
  >
> = {
  0: { chains: ['Bitcoin'], isTest: false, form: 'key:' },
  5: { chains: ['Bitcoin'], isTest: false, form: 'script:' },
  48: { chains: ['Litecoin'], isTest: false, form: 'key:' },
  50: { chains: ['Litecoin'], isTest: false, form: 'script:' },
  // The hash of the key that has the same digits on EVM chains.
  65: { chains: ['Tron'], isTest: false, form: '0x' },
  111: { chains: ['Bitcoin', 'Litecoin'], isTest: true, form: 'key:' },
  196: { chains: ['Bitcoin'], isTest: true, form: 'script:' },
  58: { chains: ['Litecoin'], isTest: true, form: 'script:' },
}

/** The chain that a mistyped Base58 address was meant for: its version determines its first character. */
const meantByLetter: Readonly<Record<string, Chain>> = {
  '1': 'Bitcoin',
  '3': 'Bitcoin',
  m: 'Bitcoin',
  n: 'Bitcoin',
  '2': 'Bitcoin',
  L: 'Litecoin',
  M: 'Litecoin',
  Q: 'Litecoin',
  T: 'Tron',
}

const base58check = createBase58check((bytes: Uint8Array) =>
  createHash('sha256').update(bytes).digest(),
)

function recogniseBech32(text: string): Recognised | undefined {
  const [, prefix = ''] = /^([a-z]+)1/i.exec(text) ?? []
  // Private addresses of Litecoin (MWEB), which BTCPay and most wallets cannot pay.
  if (/^t?mweb$|^ltcmweb$/i.test(prefix)) {
    return { is: 'unpayable', chain: 'Litecoin' }
  }
  const network = prefixes[prefix.toLowerCase()]
  if (network === undefined) return undefined
  // All lower or all upper case is the same address; mixed case is invalid (BIP-173).
  const isMixed = text !== text.toLowerCase() && text !== text.toUpperCase()
  const decoded = isMixed ? undefined : decodeBech32(text.toLowerCase(), prefix.toLowerCase())
  if (decoded === undefined) return { is: 'mistyped', chain: network.chain }
  // Pay-to-anchor: anybody can spend what is sent to it.
  if (decoded.type === 'p2a') return { is: 'unpayable', chain: network.chain }
  const { chain, isTest } = network
  const address = text.toLowerCase()
  const owner = decoded.type === 'wpkh' ? `key:${hexOf(decoded.hash)}` : address
  return { is: 'address', chains: [chain], address, owner, isTest }
}

function decodeBech32(text: string, bech32: string) {
  const coder = Address({ bech32, pubKeyHash: 0, scriptHash: 0, wif: 0 })
  return ifValid(() => coder.decode(text))
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function ifValid<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}

function recogniseBase58(text: string): Recognised | undefined {
  if (!/^[1-9A-HJ-NP-Za-km-z]{25,36}$/.test(text)) return undefined
  const bytes = ifValid(() => base58check.decode(text))
  const version = bytes?.length === 21 ? versions[bytes[0] ?? -1] : undefined
  if (bytes !== undefined && version !== undefined) {
    const { form, ...chains } = version
    return { is: 'address', ...chains, address: text, owner: form + hexOf(bytes.subarray(1)) }
  }
  const chain = meantByLetter[text.charAt(0)]
  return chain && { is: 'mistyped', chain }
}

/** Mixed case is a checksum (EIP-55); an address in a single case has none and is accepted. */
function recogniseEthereum(text: string): Recognised | undefined {
  if (!/^0x/i.test(text)) return undefined
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return { is: 'mistyped', chain: 'Ethereum' }
  const digits = text.slice(2)
  const address = getAddress(`0x${digits.toLowerCase()}`)
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (hasChecksum && address.slice(2) !== digits) return { is: 'mistyped', chain: 'Ethereum' }
  // The zero address: nobody holds its key.
  if (/^0+$/.test(digits)) return { is: 'unpayable', chain: 'Ethereum' }
  const owner = address.toLowerCase()
  return { is: 'address', chains: ['Ethereum'], address, owner, isTest: false }
}

/** The first byte of a standard, an integrated and a sub-address; the test bytes are of testnet, then of stagenet. */
const mainBytes = [18, 19, 42]
const testBytes = [53, 54, 63, 24, 25, 36]
/** Integrated addresses are eight bytes longer: they carry a payment id. */
const integratedBytes = [19, 54, 25]

/** Monero addresses: a byte for network and type, two public keys, and a Keccak checksum. */
function recogniseMonero(text: string): Recognised | undefined {
  if (!/^[45789AB][1-9A-HJ-NP-Za-km-z]{89,110}$/.test(text)) return undefined
  const [network = -1, ...rest] = checkedBytesOf(text) ?? []
  const isWhole = rest.length === (integratedBytes.includes(network) ? 76 : 68)
  const isKnown = [...mainBytes, ...testBytes].includes(network)
  if (!isWhole || !isKnown) return { is: 'mistyped', chain: 'Monero' }
  const isTest = testBytes.includes(network)
  // An integrated address has the keys of the wallet, and a payment id behind them.
  const owner = `monero:${hexOf(Uint8Array.from(rest.slice(0, 64)))}`
  return { is: 'address', chains: ['Monero'], address: text, owner, isTest }
}

function checkedBytesOf(text: string): Uint8Array | undefined {
  const bytes = ifValid(() => base58xmr.decode(text))
  if (bytes === undefined || bytes.length < 5) return undefined
  const sum = keccak256(bytes.subarray(0, -4), 'bytes').subarray(0, 4)
  return Buffer.from(sum).equals(bytes.subarray(-4)) ? bytes : undefined
}
