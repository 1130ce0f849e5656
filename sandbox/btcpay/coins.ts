/** The coins that the sandbox's BTCPay Server accepts. */
export const symbols = ['BTC', 'LTC', 'XMR', 'ETH', 'USDT'] as const
export type Ticker = (typeof symbols)[number]

interface Facts {
  readonly methodId: string
  readonly network: string
  readonly decimals: number
  /** US dollars for one coin. */
  readonly usd: string
  /** The network fee of a payout, in smallest units, which the store's wallet pays; also that of a payment. */
  readonly fee: bigint
  /** When payments lose that fee: as the store has set it, or always, as with the Monero plugin. Absent: never. */
  readonly feeMode?: 'store' | 'always'
  /** The smallest payout that is accepted, in smallest units. */
  readonly dust: bigint
  /** What the store's wallet holds at the first start, in smallest units: the operator's float. */
  readonly float: bigint
  /** Whether it has payouts: neither the Monero nor the USDt plugin has a handler for them. */
  readonly paysOut?: true
  /**
   * Whether it is paid to a fixed list of addresses, as with the USDt plugin: an invoice gets the first address on
   * which no other invoice waits, and the address is watched only while an invoice waits on it.
   */
  readonly isPooled?: true
}

export interface CoinFacts extends Facts {
  readonly symbol: Ticker
}

/** Sepolia, so that a payment link of the sandbox is never valid on Ethereum mainnet. */
export const ethereumChainId = 11_155_111

const facts: Readonly<Record<Ticker, Facts>> = {
  BTC: {
    ...{ methodId: 'BTC-CHAIN', network: 'Bitcoin', decimals: 8, usd: '64392.23' },
    ...{ fee: 1_410n, dust: 294n, float: 25_000_000n, paysOut: true, feeMode: 'store' },
  },
  LTC: {
    ...{ methodId: 'LTC-CHAIN', network: 'Litecoin', decimals: 8, usd: '84.17' },
    ...{ fee: 1_410n, dust: 5_460n, float: 15_000_000_000n, paysOut: true, feeMode: 'store' },
  },
  XMR: {
    ...{ methodId: 'XMR-CHAIN', network: 'Monero', decimals: 12, usd: '161.4' },
    ...{ fee: 30_640_000n, dust: 1n, float: 80_000_000_000_000n, feeMode: 'always' },
  },
  ETH: {
    ...{ methodId: 'ETH-CHAIN', network: 'Ethereum', decimals: 18, usd: '3412.55' },
    ...{ fee: 42_000_000_000_000n, dust: 1n, float: 4_000_000_000_000_000_000n, paysOut: true },
  },
  USDT: {
    ...{ methodId: 'USDT-TRON', network: 'Tron', decimals: 6, usd: '1.0002' },
    ...{ fee: 0n, dust: 1n, float: 12_000_000_000n, isPooled: true },
  },
}

const all: readonly CoinFacts[] = symbols.map((symbol) => ({ symbol, ...facts[symbol] }))

export const coins = Object.fromEntries(all.map((coin) => [coin.symbol, coin])) as Readonly<
  Record<Ticker, CoinFacts>
>

export function coinOfMethod(methodId: string): CoinFacts | undefined {
  return all.find((coin) => coin.methodId === methodId)
}

export function isTicker(text: string): text is Ticker {
  return (symbols as readonly string[]).includes(text)
}
