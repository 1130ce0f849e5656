import { cryptoCurrencies } from '../catalog/lists.ts'

/** A coin that people can pay in, besides USDC from a wallet; the index lists them in `accepts_crypto`. */
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

export interface CoinAbilities {
  /** Whether a payment after the invoice expired is detected; otherwise it goes unnoticed. */
  readonly isSeenLate: boolean
  /** Whether addresses come from a fixed list, each serving one checkout at a time. */
  readonly isPooled: boolean
}

/** The USDt plugin has a fixed list of addresses and watches one only while an invoice waits there. */
export const coinAbilities: Readonly<Record<Coin, CoinAbilities>> = {
  BTC: { isSeenLate: true, isPooled: false },
  ETH: { isSeenLate: true, isPooled: false },
  USDT: { isSeenLate: false, isPooled: true },
  LTC: { isSeenLate: true, isPooled: false },
  XMR: { isSeenLate: true, isPooled: false },
}

/** As wallets accept it: "0.00123", without an exponent and without trailing zeros. */
export function formatUnits(units: bigint, coin: Coin): string {
  const decimals = coinDecimals[coin]
  const digits = units.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -decimals) : `${digits.slice(0, -decimals)}.${fraction}`
}

/** Incoming amounts are never rounded. @throws when the text is no amount of the coin */
export function parseUnits(text: string, coin: Coin): bigint {
  const [, whole = '', fraction = ''] = /^(\d{1,20})(?:\.(\d{1,30}))?$/.exec(text) ?? []
  const decimals = coinDecimals[coin]
  const digits = fraction.slice(0, decimals).padEnd(decimals, '0')
  if (whole === '' || /[1-9]/.test(fraction.slice(decimals))) {
    throw new Error(`"${text}" is not an amount of ${coin}`)
  }
  return BigInt(whole + digits)
}
