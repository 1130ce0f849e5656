import { createPublicClient, type Hex, type PublicClient, type Transport } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { base, baseSepolia } from 'viem/chains'
import type { Network } from '../../payments/networks.ts'
import { type AccountNonces, accountNonces } from './nonces.ts'
import { rpcTransport } from './rpc-transport.ts'

export interface NodeOptions {
  readonly network: Network
  readonly rpcUrl: string
  /** How often a transaction is looked for until it is in a block; milliseconds. */
  readonly pollMs: number
}

export interface ChainOptions extends NodeOptions {
  /** Pays gas and holds nothing else. */
  readonly gasKey: Hex
}

/** A node of a chain, which is asked and sent nothing. */
export interface ChainNode {
  readonly network: Network
  readonly reader: PublicClient<Transport, undefined>
}

/** A connection to one chain, and the account that sends transactions there. */
export interface Chain extends ChainNode {
  readonly pollMs: number
  readonly gasAccount: PrivateKeyAccount
  readonly nonces: AccountNonces
}

export function openNode({ network, rpcUrl, pollMs }: NodeOptions): ChainNode {
  const chain = [base, baseSepolia].find(({ id }) => id === network.chainId)
  if (!chain) throw new Error(`Chain ${network.chainId} is not known`)
  const transport = rpcTransport(rpcUrl)
  const reader = createPublicClient({ chain, transport, pollingInterval: pollMs, cacheTime: 0 })
  return { network, reader: reader as unknown as ChainNode['reader'] }
}

export function openChain(options: ChainOptions): Chain {
  const node = openNode(options)
  const gasAccount = privateKeyToAccount(options.gasKey)
  const { address } = gasAccount
  return {
    ...node,
    pollMs: options.pollMs,
    gasAccount,
    nonces: accountNonces(() => node.reader.getTransactionCount({ address, blockTag: 'pending' })),
  }
}
