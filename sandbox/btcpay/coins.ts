/** The coins that the sandbox's BTCPay Server takes. */
export const symbols = ['BTC', 'LTC', 'XMR', 'ETH', 'USDT'] as const
export type Ticker = (typeof symbols)[number]

export interface CoinFacts {
  readonly symbol: Ticker
  /** How Greenfield names the way of paying. */
  readonly methodId: string
  /** The chain as people know it. */
  readonly network: string
  readonly decimals: number
  /** US dollars for one coin at the first start. */
  readonly usd: string
  /** What the chain takes for a payout, in smallest units. The store's wallet pays it. */
  readonly fee: bigint
  /** Below this a payout is refused, in smallest units. */
  readonly dust: bigint
  /** Whether there are payouts in it: there is no handler for them in Monero, nor in the USDt plugin. */
  readonly paysOut: boolean
  /** Of BTCPay's own indexer: only of these does it approve claims by itself. */
  readonly isIndexed: boolean
  /**
   * Paid at a fixed list of addresses, as by the USDt plugin: the first one on which no invoice waits is
   * given, and it is looked at only meanwhile.
   */
  readonly isPooled: boolean
  /** What the store's wallet holds at the first start, in smallest units: the operator's float. */
  readonly float: bigint
}

/** Sepolia: a link made in the sandbox is never valid on Ethereum itself. */
export const ethereumChainId = 11_155_111

export const coins: Readonly<Record<Ticker, CoinFacts>> = {
  BTC: {
    symbol: 'BTC',
    methodId: 'BTC-CHAIN',
    network: 'Bitcoin',
    decimals: 8,
    usd: '64392.23',
    fee: 1_410n,
    dust: 294n,
    paysOut: true,
    isIndexed: true,
    isPooled: false,
    float: 25_000_000n,
  },
  LTC: {
    symbol: 'LTC',
    methodId: 'LTC-CHAIN',
    network: 'Litecoin',
    decimals: 8,
    usd: '84.17',
    fee: 1_410n,
    dust: 5_460n,
    paysOut: true,
    isIndexed: true,
    isPooled: false,
    float: 15_000_000_000n,
  },
  XMR: {
    symbol: 'XMR',
    methodId: 'XMR-CHAIN',
    network: 'Monero',
    decimals: 12,
    usd: '161.4',
    fee: 30_640_000n,
    dust: 1n,
    paysOut: false,
    isIndexed: false,
    isPooled: false,
    float: 80_000_000_000_000n,
  },
  ETH: {
    symbol: 'ETH',
    methodId: 'ETH-CHAIN',
    network: 'Ethereum',
    decimals: 18,
    usd: '3412.55',
    fee: 42_000_000_000_000n,
    dust: 1n,
    paysOut: true,
    isIndexed: false,
    isPooled: false,
    float: 4_000_000_000_000_000_000n,
  },
  USDT: {
    symbol: 'USDT',
    methodId: 'USDT-TRON',
    network: 'Tron',
    decimals: 6,
    usd: '1.0002',
    fee: 0n,
    dust: 1n,
    paysOut: false,
    isIndexed: false,
    isPooled: true,
    float: 12_000_000_000n,
  },
}

/** The coin that is paid by this method, or undefined when there is none. */
export function coinOfMethod(methodId: string): CoinFacts | undefined {
  return symbols.map((symbol) => coins[symbol]).find((coin) => coin.methodId === methodId)
}

export function isTicker(text: string): text is Ticker {
  return (symbols as readonly string[]).includes(text)
}
