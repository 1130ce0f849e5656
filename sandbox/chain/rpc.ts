import { createTestClient, defineChain, http, publicActions, walletActions } from 'viem'
import { CHAIN_ID } from './anvil.ts'

const sandboxChain = defineChain({
  id: CHAIN_ID,
  name: 'Base Sepolia (sandbox)',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
})

/**
 * A client of the sandbox chain that reads, sends transactions and commands the node. The node
 * mines a transaction before it answers, so the wait for a receipt seldom asks a second time. Answers
 * may be of any size: after some thousand purchases the chain's own state is larger than 10 MB.
 *
 * @param patienceMs how long an answer is waited for
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
