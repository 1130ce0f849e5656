/** Coins as people call them, by the code that they are quoted by. */
export const coinNames = {
  BTC: 'Bitcoin',
  ETH: 'Ether',
  USDT: 'Tether',
  LTC: 'Litecoin',
  XMR: 'Monero',
} as const

const names: Readonly<Record<string, string>> = coinNames

/** "USDT on Tron"; a coin whose network has its name needs no second one: "BTC". */
export function coinOn(coin: string, network: string): string {
  return names[coin] === network ? coin : `${coin} on ${network}`
}

/** "Bitcoin (BTC)", "Tether (USDT) on Tron". */
export function namedCoinOn(coin: string, network: string): string {
  const name = names[coin] ?? coin
  return name === network ? `${name} (${coin})` : `${name} (${coin}) on ${network}`
}
