import { createHash } from 'node:crypto'
import { createBase58check } from '@scure/base'
import { Address } from '@scure/btc-signer'
import type { Chain, Recognised } from './recognised.ts'

/** The readable beginnings of addresses with Bech32 (BIP-173, BIP-350), without the "1" behind them. */
const beginnings: Readonly<Record<string, { readonly chain: Chain; readonly isTest: boolean }>> = {
  bc: { chain: 'Bitcoin', isTest: false },
  tb: { chain: 'Bitcoin', isTest: true },
  bcrt: { chain: 'Bitcoin', isTest: true },
  ltc: { chain: 'Litecoin', isTest: false },
  tltc: { chain: 'Litecoin', isTest: true },
  rltc: { chain: 'Litecoin', isTest: true },
}

/** The first byte of the older addresses, in Base58. */
const versions: Readonly<
  Record<number, { readonly chains: readonly Chain[]; readonly isTest: boolean }>
> = {
  0: { chains: ['Bitcoin'], isTest: false },
  5: { chains: ['Bitcoin'], isTest: false },
  48: { chains: ['Litecoin'], isTest: false },
  50: { chains: ['Litecoin'], isTest: false },
  65: { chains: ['Tron'], isTest: false },
  111: { chains: ['Bitcoin', 'Litecoin'], isTest: true },
  196: { chains: ['Bitcoin'], isTest: true },
  58: { chains: ['Litecoin'], isTest: true },
}

/** The chain that somebody meant who mistyped: a version shows in the first letter. */
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

/** Addresses that begin with bc1, ltc1 and the like. */
export function recogniseBech32(text: string): Recognised | undefined {
  const [, beginning = ''] = /^([a-z]+)1/i.exec(text) ?? []
  // Private addresses of Litecoin, which BTCPay and most wallets cannot pay to.
  if (/^t?mweb$|^ltcmweb$/i.test(beginning)) {
    return { is: 'unpayable', chain: 'Litecoin' }
  }
  const known = beginnings[beginning.toLowerCase()]
  if (known === undefined) return undefined
  // Both cases are the same address, a mixture is a mistake (BIP-173).
  const isMixed = text !== text.toLowerCase() && text !== text.toUpperCase()
  const kind = isMixed ? undefined : kindOf(text.toLowerCase(), beginning.toLowerCase())
  if (kind === undefined) return { is: 'mistyped', chain: known.chain }
  // Anybody can take what is sent to it.
  if (kind === 'p2a') return { is: 'unpayable', chain: known.chain }
  const { chain, isTest } = known
  return { is: 'address', chains: [chain], address: text.toLowerCase(), isTest }
}

function kindOf(text: string, bech32: string): string | undefined {
  try {
    return Address({ bech32, pubKeyHash: 0, scriptHash: 0, wif: 0 }).decode(text).type
  } catch {
    return undefined
  }
}

/** The older addresses of Bitcoin and Litecoin, and those of Tron. */
export function recogniseBase58(text: string): Recognised | undefined {
  if (!/^[1-9A-HJ-NP-Za-km-z]{25,36}$/.test(text)) return undefined
  const bytes = bytesOf(text)
  const known = bytes?.length === 21 ? versions[bytes[0] ?? -1] : undefined
  if (bytes !== undefined && known !== undefined) return { is: 'address', ...known, address: text }
  const chain = meantByLetter[text.charAt(0)]
  return chain && { is: 'mistyped', chain }
}

function bytesOf(text: string): Uint8Array | undefined {
  try {
    return base58check.decode(text)
  } catch {
    return undefined
  }
}
