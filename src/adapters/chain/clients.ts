import {
  type Account,
  createPublicClient,
  createWalletClient,
  type Hex,
  nonceManager,
  type PublicClient,
  type Transport,
  type Chain as ViemChain,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base, baseSepolia } from 'viem/chains'
import type { Network } from '../../payments/networks.ts'
import { rpcTransport } from './rpc-transport.ts'

export interface ChainOptions {
  readonly network: Network
  readonly rpcUrl: string
  /** Pays gas and holds nothing else. */
  readonly gasKey: Hex
  /** How often a transaction is looked for until it is in a block. */
  readonly pollMs: number
}

/** A connection to one chain, and the account that sends transactions there. */
export interface Chain {
  readonly network: Network
  readonly reader: PublicClient<Transport, ViemChain>
  readonly sender: WalletClient<Transport, ViemChain, Account>
}

export function openChain({ network, rpcUrl, gasKey, pollMs }: ChainOptions): Chain {
  const chain = [base, baseSepolia].find(({ id }) => id === network.chainId)
  if (!chain) throw new Error(`Chain ${network.chainId} is not known`)
  const transport = rpcTransport(rpcUrl)
  // Without a nonce manager, concurrent settlements take the same account nonce and all but one fail.
  const account = privateKeyToAccount(gasKey, { nonceManager })
  return {
    network,
    reader: createPublicClient({
      chain,
      transport,
      pollingInterval: pollMs,
      cacheTime: 0,
    }) as Chain['reader'],
    sender: createWalletClient({ account, chain, transport, pollingInterval: pollMs }),
  }
}
