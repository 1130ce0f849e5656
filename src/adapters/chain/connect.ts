import type { Hex } from 'viem'
import type { Network } from '../../payments/networks.ts'
import type { Rail } from '../../payments/ports.ts'
import { openChain } from './clients.ts'
import { hostedFacilitator, ownFacilitator } from './facilitator.ts'
import { x402Rail } from './rail.ts'
import { refundWallet } from './refunds.ts'
import { tokenAbi } from './token.ts'

export interface ChainConfig {
  readonly network: Network
  readonly rpcUrl: string
  readonly pollMs: number
  /** A chain whose newest block is older than this has stopped, or its node has. */
  readonly headMostSeconds: number
  readonly gasKey: Hex
  readonly refundKey: Hex
  readonly facilitatorUrl?: string | undefined
  readonly walletFactories: readonly string[]
}

export interface ConnectedChain {
  readonly rail: Rail
  /** Throws when the chain does not answer, or has stood still. */
  readonly probe: () => Promise<void>
  /** Throws when the node serves another chain, or one that has no USDC at its address. */
  readonly requireNetwork: () => Promise<void>
  /** Whether this wallet signed this message, smart wallets included. */
  readonly verifyMessage: (args: {
    address: Hex
    message: string
    signature: Hex
  }) => Promise<boolean>
}

export function connectChain(config: ChainConfig, now: () => Date): ConnectedChain {
  const chain = openChain(config)
  const { reader, network } = chain
  const facilitator = config.facilitatorUrl
    ? hostedFacilitator(config.facilitatorUrl)
    : ownFacilitator(chain, config.walletFactories)
  const refunds = refundWallet(chain, config.refundKey)

  return {
    rail: x402Rail({ chain, facilitator, refunds, now }),

    async probe() {
      const head = await reader.getBlock()
      const age = now().getTime() / 1_000 - Number(head.timestamp)
      if (age > config.headMostSeconds)
        throw new Error(`The newest block is ${Math.round(age)} s old.`)
    },

    async requireNetwork() {
      const chainId = await reader.getChainId()
      if (chainId !== network.chainId) {
        throw new Error(`RPC_URL serves chain ${chainId}; ${network.name} is ${network.chainId}`)
      }
      const token = { address: network.usdc as Hex, abi: tokenAbi } as const
      await reader.readContract({ ...token, functionName: 'paused' })
    },

    verifyMessage: (args) => reader.verifyMessage(args),
  }
}
