import { base58xmr } from '@scure/base'
import { keccak256 } from 'viem/utils'
import type { Recognised } from './recognised.ts'

/** The first byte of an address: plain, with a payment id, and sub-address, of each network. */
const mainBytes = [18, 19, 42]
const testBytes = [53, 54, 63, 24, 25, 36]
/** Those with a payment id are longer by its eight bytes. */
const integratedBytes = [19, 54, 25]

/** Addresses of Monero: two public keys behind a byte for the network, and a checksum of Keccak. */
export function recogniseMonero(text: string): Recognised | undefined {
  if (!/^[45789AB][1-9A-HJ-NP-Za-km-z]{89,110}$/.test(text)) return undefined
  const [network = -1, ...rest] = bytesOf(text) ?? []
  const isWhole = rest.length === (integratedBytes.includes(network) ? 76 : 68)
  const isKnown = [...mainBytes, ...testBytes].includes(network)
  if (!isWhole || !isKnown) return { is: 'mistyped', chain: 'Monero' }
  const isTest = testBytes.includes(network)
  return { is: 'address', chains: ['Monero'], address: text, isTest }
}

/** With the checksum; undefined when it is wrong. */
function bytesOf(text: string): Uint8Array | undefined {
  const bytes = decoded(text)
  if (bytes === undefined || bytes.length < 5) return undefined
  const sum = keccak256(bytes.subarray(0, -4), 'bytes').subarray(0, 4)
  return Buffer.from(sum).equals(bytes.subarray(-4)) ? bytes : undefined
}

function decoded(text: string): Uint8Array | undefined {
  try {
    return base58xmr.decode(text)
  } catch {
    return undefined
  }
}
