import { type Coin, formatUnits } from '../../payments/coins.ts'

/**
 * What wallets open, and the parameter that carries the amount there: BIP-21 and its like in coins, a
 * token's EIP-681 and Ethereum's own in smallest units. No link of another sort is offered, whoever
 * made it: wallets take the amount in one of Tron for TRX.
 */
const forms: readonly {
  readonly link: RegExp
  readonly amount: string
  readonly inUnits: boolean
}[] = [
  { link: /^(bitcoin|litecoin):/i, amount: 'amount', inUnits: false },
  { link: /^monero:/i, amount: 'tx_amount', inUnits: false },
  { link: /^ethereum:[^?]*\/transfer\?/i, amount: 'uint256', inUnits: true },
  { link: /^ethereum:/i, amount: 'value', inUnits: true },
]

/** No blanks, and nothing that is not ASCII. */
const printable = /^[\x21-\x7e]+$/

/**
 * The link that a wallet opens for this amount, made of the processor's; undefined when the processor
 * gave none that a wallet would open, or none whose amount can be told.
 */
export function paymentLinkFor(link: string, coin: Coin, units: bigint): string | undefined {
  const form = forms.find((one) => one.link.test(link))
  if (form === undefined || !printable.test(link)) return undefined
  const amount = new RegExp(`([?&]${form.amount}=)[^&#]*`, 'i')
  if (!amount.test(link)) return undefined
  return link.replace(amount, `$1${form.inUnits ? units : formatUnits(units, coin)}`)
}
