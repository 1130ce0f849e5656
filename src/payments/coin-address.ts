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
  /** In canonical form: the same address is always the same text. */
  | { readonly outcome: 'good'; readonly address: string }
  | { readonly outcome: 'bad'; readonly fault: AddressFault }

export interface AddressOptions {
  /** Accepts addresses of test networks as well. */
  readonly isTestnet?: boolean
}

/** The URI schemes of wallet links and QR codes. */
const schemes: Readonly<Record<string, Chain>> = {
  bitcoin: 'Bitcoin',
  litecoin: 'Litecoin',
  ethereum: 'Ethereum',
  tron: 'Tron',
  monero: 'Monero',
}

/**
 * Reads an address as a person pasted it, with spaces around it or as a wallet link, and checks that
 * money in this coin can be sent there. Every checksum is verified, because money sent to a wrong
 * address is lost.
 *
 * @param method the network matters only for USDT, which is on Tron or on an EVM chain
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

/** A valid address wins over a guess that the text is a mistyped address of another chain. */
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
 * The address in a wallet link (BIP-21, EIP-681, Monero's); an amount in it is ignored. A text without a
 * scheme is the address itself. Undefined for any other link, such as one that calls a token.
 */
function withoutLink(text: string): Linked | undefined {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(?:\/\/)?(.*)$/i.exec(text) ?? []
  if (scheme === undefined) return { address: text }
  const chain = schemes[scheme.toLowerCase()]
  const [path = ''] = rest.split('?')
  // "ethereum:pay-0x…@8453" names the chain too; with "/transfer" after it, the address would be a token's.
  const address = chain === 'Ethereum' ? path.replace(/^pay-|@\d+$/g, '') : path
  return chain === undefined || address.includes('/') ? undefined : { address, chain }
}

function faulty(fault: AddressFault): AddressRead {
  return { outcome: 'bad', fault }
}
