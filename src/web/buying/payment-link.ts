import { type Coin, formatUnits } from '../../payments/coins.ts'

/** What wallets open. A link of any other sort is not offered, whoever made it. */
const walletLink = /^(bitcoin|litecoin|ethereum|monero|tron):[\x21-\x7e]+$/i

/** The parameter that carries the amount, and whether it is in smallest units (BIP-21, EIP-681, Monero). */
const amountOf: Readonly<Record<Coin, { readonly name: string; readonly inUnits: boolean }>> = {
  BTC: { name: 'amount', inUnits: false },
  LTC: { name: 'amount', inUnits: false },
  XMR: { name: 'tx_amount', inUnits: false },
  ETH: { name: 'value', inUnits: true },
  USDT: { name: 'uint256', inUnits: true },
}

/**
 * The link that a wallet opens for this amount, made of the processor's; undefined when the processor
 * gave none that a wallet would open, or none whose amount can be told.
 */
export function paymentLinkFor(link: string, coin: Coin, units: bigint): string | undefined {
  if (!walletLink.test(link)) return undefined
  const { name, inUnits } = amountOf[coin]
  const amount = new RegExp(`([?&]${name}=)[^&#]*`, 'i')
  if (!amount.test(link)) return undefined
  return link.replace(amount, `$1${inUnits ? units : formatUnits(units, coin)}`)
}
