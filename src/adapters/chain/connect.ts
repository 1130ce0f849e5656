import type { Hex } from 'viem'
import type { Network } from '../../payments/networks.ts'
import type { ChainFacts, Rail } from '../../payments/ports.ts'
import type { Usdc } from '../../primitives/money.ts'
import type { ChainBooks } from '../../reconcile/ports.ts'
import { chainBooks } from './books.ts'
import { type Chain, openChain } from './clients.ts'
import { hostedFacilitator, ownFacilitator } from './facilitator.ts'
import { chainFacts, floatOf } from './facts.ts'
import { x402Rail } from './rail.ts'
import { refundWallet } from './refunds.ts'

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
  /** Throws when the chain does not answer. */
  readonly facts: () => Promise<ChainFacts>
  /** What the wallet for refunds holds. Throws when the chain does not answer. */
  readonly refundFloat: () => Promise<Usdc>
  /** What moved to this address and out of the refund wallet. */
  readonly books: (payTo: string) => ChainBooks
  /** What makes this node the wrong one for the mode; undefined when nothing does, or it is silent. */
  readonly problem: (mode: 'sandbox' | 'live') => Promise<string | undefined>
  /** Whether this wallet signed this message, smart wallets included. */
  readonly verifyMessage: (args: {
    address: Hex
    message: string
    signature: Hex
  }) => Promise<boolean>
}

export function connectChain(config: ChainConfig, now: () => Date): ConnectedChain {
  const chain = openChain(config)
  const { reader } = chain
  const facilitator = config.facilitatorUrl
    ? hostedFacilitator(chain, config.facilitatorUrl)
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

    facts: () => chainFacts(chain, refunds.address),

    refundFloat: () => floatOf(chain, refunds.address),

    books: (payTo) => chainBooks(chain, { payTo, refundWallet: refunds.address }),

    problem: (mode) => problemOf(chain, mode),

    verifyMessage: (args) => reader.verifyMessage(args),
  }
}

/** A node that does not answer is for the health signal to show; one that answers wrongly is not. */
async function problemOf(
  { reader, network }: Chain,
  mode: 'sandbox' | 'live',
): Promise<string | undefined> {
  try {
    const chainId = await reader.getChainId()
    if (chainId !== network.chainId) {
      return `it serves chain ${chainId}, and ${network.name} is ${network.chainId}`
    }
    const client = await reader.request({ method: 'web3_clientVersion' })
    if (mode === 'live' && /anvil|hardhat|ganache/i.test(client)) {
      return `it is a development node (${client.slice(0, 40)}), whose money is not real`
    }
    const code = await reader.getCode({ address: network.usdc as Hex })
    return code === undefined ? `it has no USDC at ${network.usdc}` : undefined
  } catch {
    return undefined
  }
}
