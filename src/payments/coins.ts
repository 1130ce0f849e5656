import { cryptoCurrencies } from '../catalog/lists.ts'

/** What people may pay in besides USDC from a wallet, as the index lists it in `accepts_crypto`. */
export type Coin = (typeof cryptoCurrencies)[number]

export const coins: readonly Coin[] = cryptoCurrencies

/** How many decimals the smallest unit of each coin has: 1 BTC is 100_000_000 satoshi. */
export const coinDecimals: Readonly<Record<Coin, number>> = {
  BTC: 8,
  ETH: 18,
  USDT: 6,
  LTC: 8,
  XMR: 12,
}

/** How a coin is watched by payment processors. */
export interface CoinAbilities {
  /** Sees what comes to an address after its time. Otherwise nobody sees that by itself. */
  readonly isSeenLate: boolean
  /** Is paid at addresses of a fixed list, each of which serves one checkout at a time. */
  readonly isPooled: boolean
}

/**
 * By what BTCPay Server does and the plugins for the other coins: the USDt plugin has a list of addresses,
 * and looks at one only while an invoice waits there. A table, because no answer of BTCPay's interface
 * tells how a plugin watches; what it sends by itself it does tell (`Processor.sends`).
 */
export const coinAbilities: Readonly<Record<Coin, CoinAbilities>> = {
  BTC: { isSeenLate: true, isPooled: false },
  ETH: { isSeenLate: true, isPooled: false },
  USDT: { isSeenLate: false, isPooled: true },
  LTC: { isSeenLate: true, isPooled: false },
  XMR: { isSeenLate: true, isPooled: false },
}

/**
 * Writes an amount of smallest units as wallets take it: "0.00123", never with an exponent, and
 * without zeros at the end.
 */
export function formatUnits(units: bigint, coin: Coin): string {
  const decimals = coinDecimals[coin]
  const digits = units.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -decimals) : `${digits.slice(0, -decimals)}.${fraction}`
}

/**
 * Reads a decimal amount of a coin ("0.00123") into its smallest units. More digits than the coin has
 * are an error unless they are zeros: money is never rounded on the way in.
 *
 * @throws when the text is no such amount
 */
export function parseUnits(text: string, coin: Coin): bigint {
  const [, whole = '', fraction = ''] = /^(\d{1,20})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  const decimals = coinDecimals[coin]
  const digits = fraction.slice(0, decimals).padEnd(decimals, '0')
  if (whole === '' || /[1-9]/.test(fraction.slice(decimals))) {
    throw new Error(`"${text}" is not an amount of ${coin}`)
  }
  return BigInt(whole + digits)
}
