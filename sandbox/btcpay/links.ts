import { formatDecimal } from './amounts.ts'
import { type CoinFacts, ethereumChainId } from './coins.ts'

/**
 * The link that a wallet opens to pay an amount to an address: BIP-21 for Bitcoin and Litecoin, EIP-681 for Ethereum,
 * Monero's own URI scheme, and that of the plugin for USDT. All except EIP-681 write the amount in coins.
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

/** The address in the destination of a claim, which may be a payment link. */
export function addressIn(destination: string): string {
  const [, address = destination] =
    /^(?:bitcoin|litecoin|ethereum|tron):([^?@]+)/.exec(destination) ?? []
  return address
}
