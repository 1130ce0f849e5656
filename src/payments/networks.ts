export interface Network {
  /** CAIP-2. */
  readonly id: string
  readonly chainId: number
  readonly name: string
  readonly usdc: string
  /** The EIP-712 domain of USDC there. It differs by chain; a wrong one makes every signature invalid. */
  readonly usdcDomain: { readonly name: string; readonly version: string }
  /** Where a person can look up a transaction: its hash is appended. */
  readonly explorer: string
  /** A public node, for wallets that must add the chain. The store itself never calls it. */
  readonly publicRpcUrl: string
  readonly isTestnet: boolean
  /** Chainlink's feed of ETH in US dollars. */
  readonly ethUsdFeed?: string
}

export const networks = {
  base: {
    id: 'eip155:8453',
    chainId: 8453,
    name: 'Base',
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    usdcDomain: { name: 'USD Coin', version: '2' },
    explorer: 'https://basescan.org/tx/',
    publicRpcUrl: 'https://mainnet.base.org',
    isTestnet: false,
    ethUsdFeed: '0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70',
  },
  'base-sepolia': {
    id: 'eip155:84532',
    chainId: 84532,
    name: 'Base Sepolia',
    usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    usdcDomain: { name: 'USDC', version: '2' },
    explorer: 'https://sepolia.basescan.org/tx/',
    publicRpcUrl: 'https://sepolia.base.org',
    isTestnet: true,
    ethUsdFeed: '0x4aDC67696bA383F43DD60A9e78F2C97Fbbfc7cb1',
  },
} as const satisfies Record<string, Network>
