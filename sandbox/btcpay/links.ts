import { formatDecimal } from './amounts.ts'
import { type CoinFacts, ethereumChainId } from './coins.ts'

/**
 * What a wallet opens to pay that amount to that address: BIP-21 for Bitcoin and Litecoin, EIP-681
 * for Ethereum, Monero's own URI scheme, and for USDT what its plugin makes. All but EIP-681 write
 * the amount in coins.
 */
export function paymentLink(coin: CoinFacts, address: string, units: bigint): string {
  const amount = formatDecimal(units, coin.decimals)
  switch (coin.symbol) {
    case 'BTC':
      return `bitcoin:${address}?amount=${amount}`
    case 'LTC':
      return `litecoin:${address}?amount=${amount}`
    case 'XMR':
      return `monero:${address}?tx_amount=${amount}`
    case 'ETH':
      return `ethereum:${address}@${ethereumChainId}?value=${units}`
    case 'USDT':
      return `tron:${address}?amount=${amount}`
    default:
      return coin.symbol satisfies never
  }
}

/** The address in what a payout is claimed for, which may be a link as well. */
export function addressIn(destination: string): string {
  const [, address = destination] =
    /^(?:bitcoin|litecoin|ethereum|tron):([^?@]+)/.exec(destination) ?? []
  return address
}
