import { type Coin, coins } from './coins.ts'

export interface BtcpayMethod {
  readonly coin: Coin
  /** "Bitcoin", "Ethereum", "Tron": what a wallet must be set to. */
  readonly network: string
  /** BTCPay's own id: "BTC-CHAIN". Payouts in the coin use the same one. */
  readonly id: string
}

/** USDT is that of the USDt plugin, on Tron. Ether has no common plugin: the operator configures another id. */
const usual: Readonly<Record<Coin, Omit<BtcpayMethod, 'coin'>>> = {
  BTC: { id: 'BTC-CHAIN', network: 'Bitcoin' },
  ETH: { id: 'ETH-CHAIN', network: 'Ethereum' },
  USDT: { id: 'USDT-TRON', network: 'Tron' },
  LTC: { id: 'LTC-CHAIN', network: 'Litecoin' },
  XMR: { id: 'XMR-CHAIN', network: 'Monero' },
}

const networksByIds: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(usual).map(({ id, network }) => [id, network])),
  'USDT-ETHEREUM': 'Ethereum',
  'USDT-POLYGON': 'Polygon',
}

/**
 * "BTC, XMR, USDT=USDT-ARBITRUM:Arbitrum": an unknown id comes with its network, which buyers are shown. @throws in
 * words
 */
export function readMethods(text: string): readonly BtcpayMethod[] {
  const parts = text.split(',').map((part) => part.trim())
  const methods = parts.filter((part) => part !== '').map(methodOf)
  if (methods.length === 0) throw new Error(`names no coin; known are ${coins.join(', ')}`)
  for (const [index, { coin, id }] of methods.entries()) {
    const before = methods.slice(0, index)
    if (before.some((other) => other.coin === coin)) throw new Error(`names ${coin} twice`)
    if (before.some((other) => other.id === id)) throw new Error(`gives two coins the method ${id}`)
  }
  return methods
}

function methodOf(part: string): BtcpayMethod {
  const [, name = '', id, network] = /^(\w+)(?:=([^:=]*))?(?::([^:=]*))?$/.exec(part) ?? []
  const coin = coins.find((candidate) => candidate === name.toUpperCase())
  if (coin === undefined) {
    throw new Error(`"${part}" does not begin with a known coin (${coins.join(', ')})`)
  }
  const method = id === undefined ? usual[coin].id : idOf(coin, id.trim())
  return { coin, id: method, network: networkOf(coin, method, network?.trim()) }
}

function idOf(coin: Coin, id: string): string {
  if (!/^[A-Za-z0-9]{2,20}-[A-Za-z0-9-]{1,30}$/.test(id)) {
    throw new Error(`"${id}" is no payment method of BTCPay; they look like ${usual[coin].id}`)
  }
  if (!id.toUpperCase().startsWith(`${coin}-`)) {
    throw new Error(`"${id}" is not a payment method for ${coin}: it has to begin with ${coin}-`)
  }
  if (/-(LN|LNURL)$/i.test(id))
    throw new Error(`"${id}" is Lightning, which this store cannot take`)
  return id
}

/** What may follow the name of a chain: its main network and its test networks, which are no other chain. */
const networksOfOneChain: readonly string[] = [
  ...['Mainnet', 'Testnet', 'Testnet4', 'Stagenet', 'Signet', 'Regtest'],
  ...['Nile', 'Shasta', 'Sepolia', 'Holesky', 'Hoodi', 'Amoy'],
]

function isOfChain(network: string, chain: string): boolean {
  return network === chain || networksOfOneChain.some((name) => network === `${chain} ${name}`)
}

function networkOf(coin: Coin, id: string, network: string | undefined): string {
  const knownNetwork = networksByIds[id.toUpperCase()]
  if (network === undefined) {
    if (knownNetwork !== undefined) return knownNetwork
    throw new Error(`"${id}" is not known here: name its network, as in ${coin}=${id}:Network`)
  }
  if (!/^[A-Z][A-Za-z0-9 ]{1,29}$/.test(network)) {
    throw new Error(`"${network}" is no name of a network for ${coin}; it is shown to buyers`)
  }
  // "Tron Nile" is a test network of Tron; "Ethereum Classic" is not one of Ethereum.
  if (knownNetwork !== undefined && !isOfChain(network, knownNetwork)) {
    throw new Error(`"${id}" is on ${knownNetwork}, not on ${network}`)
  }
  return network
}
