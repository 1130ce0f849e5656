import type { AddressFault } from '../lib/fault.ts'
import {
  type Chain,
  type Recognised,
  recogniseBase58,
  recogniseBech32,
  recogniseEthereum,
  recogniseMonero,
} from './addresses.ts'
import type { Coin } from './coins.ts'

export type AddressRead =
  /** In its usual spelling: the same address is always the same text. */
  | { readonly outcome: 'good'; readonly address: string }
  | { readonly outcome: 'bad'; readonly fault: AddressFault }

export interface AddressOptions {
  /** Takes addresses of test networks as well. */
  readonly isTestnet?: boolean
}

/** What wallets put before an address in a link or a QR code. */
const schemes: Readonly<Record<string, Chain>> = {
  bitcoin: 'Bitcoin',
  litecoin: 'Litecoin',
  ethereum: 'Ethereum',
  tron: 'Tron',
  monero: 'Monero',
}

/**
 * Reads an address that money in a coin can be sent to, as a person pasted it: with the spaces around
 * it, or as the link of a wallet. Every checksum there is gets checked, because what is sent to a
 * wrong address is gone.
 *
 * @param method the network matters for USDT, which lives on many: on Tron, or on a chain of
 *   Ethereum's kind
 */
export function readAddress(
  { coin, network }: { readonly coin: Coin; readonly network: string },
  text: string,
  { isTestnet = false }: AddressOptions = {},
): AddressRead {
  const wanted = chainOf(coin, network)
  const typed = text.trim()
  if (typed === '') return faulty('missing')
  if (/\s/.test(typed)) return faulty('spaces')
  if (typed.length > 1_000) return faulty('no_address')

  const linked = withoutLink(typed)
  if (linked === undefined) return faulty('link')
  if (linked.chain !== undefined && linked.chain !== wanted) return faulty('wrong_coin')
  const found = recognise(linked.address)
  return found === undefined ? faulty('no_address') : judged(found, wanted, isTestnet)
}

function judged(found: Recognised, wanted: Chain, isTestnet: boolean): AddressRead {
  const chains = found.is === 'address' ? found.chains : [found.chain]
  if (!chains.includes(wanted)) return faulty('wrong_coin')
  switch (found.is) {
    case 'mistyped':
      return faulty('mistyped')
    case 'unpayable':
      return faulty('unpayable')
    case 'address':
      if (found.isTest && !isTestnet) return faulty('test_network')
      return { outcome: 'good', address: found.address }
  }
}

const kinds = [recogniseEthereum, recogniseBech32, recogniseBase58, recogniseMonero]

/** What has a right checksum is that, even where it begins as a mistyped one of another kind would. */
function recognise(text: string): Recognised | undefined {
  const found = kinds.flatMap((kind) => kind(text) ?? [])
  return found.find(({ is }) => is === 'address') ?? found[0]
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

/**
 * The address of a wallet's link (BIP-21, EIP-681, Monero's): what it says of an amount does not matter
 * here. Undefined for a link that is not about an address alone, such as one that calls a token.
 */
function withoutLink(text: string): Linked | undefined {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(?:\/\/)?(.*)$/i.exec(text) ?? []
  if (scheme === undefined) return { address: text }
  const chain = schemes[scheme.toLowerCase()]
  const [path = ''] = rest.split('?')
  // "ethereum:pay-0x…@8453" names the chain too; "/transfer" behind it would be a token's address.
  const address = chain === 'Ethereum' ? path.replace(/^pay-|@\d+$/g, '') : path
  return chain === undefined || address.includes('/') ? undefined : { address, chain }
}

function faulty(fault: AddressFault): AddressRead {
  return { outcome: 'bad', fault }
}
