import { createTestClient, defineChain, http, publicActions, walletActions } from 'viem'

/** Base Sepolia. A signature made in the sandbox must never be valid on Base mainnet. */
export const CHAIN_ID = 84_532

const sandboxChain = defineChain({
  id: CHAIN_ID,
  name: 'Base Sepolia (sandbox)',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

/**
 * A client of the sandbox chain that reads, sends transactions and commands the node. The node mines a transaction
 * before it answers, so waiting for a receipt rarely needs a second request. The size of answers is not limited: after
 * a few thousand purchases the chain's own state has more than 10 MB.
 *
 * @param patienceMs the timeout of a request
 */
export function chainClient(rpcUrl: string, patienceMs = 10_000) {
  return createTestClient({
    mode: 'anvil',
    chain: sandboxChain,
    transport: http(rpcUrl, { retryCount: 0, timeout: patienceMs, maxResponseBodySize: false }),
    pollingInterval: 50,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
}

export type ChainClient = ReturnType<typeof chainClient>
