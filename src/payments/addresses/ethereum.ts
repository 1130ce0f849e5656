import { getAddress } from 'viem/utils'
import type { Recognised } from './recognised.ts'

/**
 * Addresses of Ethereum and the chains of its kind. Their capitals are a checksum (EIP-55); a text in
 * one case has none, and is taken as it is.
 */
export function recogniseEthereum(text: string): Recognised | undefined {
  if (!/^0x/i.test(text)) return undefined
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return { is: 'mistyped', chain: 'Ethereum' }
  const digits = text.slice(2)
  const address = getAddress(`0x${digits.toLowerCase()}`)
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (hasChecksum && address.slice(2) !== digits) return { is: 'mistyped', chain: 'Ethereum' }
  // The empty address, which nobody has.
  if (/^0+$/.test(digits)) return { is: 'unpayable', chain: 'Ethereum' }
  return { is: 'address', chains: ['Ethereum'], address, isTest: false }
}
