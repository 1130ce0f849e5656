import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { Network } from '../../payments/networks.ts'
import type { ChainFacts, Rail } from '../../payments/ports.ts'
import type { ChainStatement, StoreWallet } from '../../reconcile/ports.ts'
import { type Chain, type ChainNode, openChain, openNode } from './clients.ts'
import {
  type Facilitator,
  type FacilitatorKey,
  hostedFacilitator,
  keyProblem,
  occasionally,
} from './facilitator.ts'
import { chainFacts, createProbe, floatOf, gasFacts, headAgeOf } from './facts.ts'
import { isSilence } from './faults.ts'
import { ownFacilitator } from './own-facilitator.ts'
import { x402Rail } from './rail.ts'
import { refundWallet } from './refunds.ts'
import { chainStatement } from './statement.ts'
import { separatorOf, tokenAbi } from './token.ts'
import { evidenceOf } from './witnesses.ts'

export interface ChainConfig {
  readonly network: Network
  readonly rpcUrl: string
  readonly pollMs: number
  /** If the newest block is older than this, the chain or its node has stopped. */
  readonly maxHeadSeconds: number
  /** Further nodes of the same chain; without them, `rpcUrl` alone is believed. */
  readonly witnesses?: { readonly urls: readonly string[]; readonly fromUsdc: number } | undefined
  readonly gasKey: Hex
  /** What one transaction may cost in network fees. */
  readonly maxSettlementWei: bigint
  readonly refundKey: Hex
  readonly facilitatorUrl?: string | undefined
  readonly facilitatorKey?: FacilitatorKey | undefined
  /** How often the hosted facilitator gets a settlement, while we settle the rest. Left out: it settles all. */
  readonly facilitatorEveryMs?: number | undefined
  readonly walletFactories: readonly string[]
}

export interface ConnectedChain {
  /** @param earlier wallets that refunds came from before */
  readonly rail: (earlier: readonly string[]) => Rail
  /** Throws when the chain does not answer, or has stood still. */
  readonly probe: () => Promise<void>
  /** Throws when the chain does not answer. */
  readonly facts: () => Promise<ChainFacts>
  /** The USDC in the refund wallet. Throws when the chain does not answer. */
  readonly refundFloat: () => Promise<Usdc>
  /** The largest payment that could be borne out now; undefined: any. */
  readonly maxBorneOut: () => Promise<Usdc | undefined>
  /** The balance of the gas wallet and the cost of one transfer, in wei. Throws when the chain does not answer. */
  readonly gas: () => Promise<{ readonly balance: bigint; readonly perTransfer: bigint }>
  /** The address that refunds are paid from. */
  readonly refundWallet: string
  /** What moved to and from these wallets. */
  readonly statement: (wallets: readonly StoreWallet[]) => ChainStatement
  /** What is wrong with these nodes or with the facilitator key, by variable. Silent ones have no problem. */
  readonly problems: (isForMoney: boolean) => Promise<readonly string[]>
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
  const { urls = [], fromUsdc = 0 } = config.witnesses ?? {}
  const nodes = urls.map((rpcUrl) => openNode({ ...config, rpcUrl }))
  const isCurrent = (timestamp: bigint) => headAgeOf({ timestamp }, now()) <= config.maxHeadSeconds
  const from = usdc(BigInt(fromUsdc) * 1_000_000n)
  const evidence = evidenceOf(chain, { nodes, from, isCurrent })
  const facilitator = facilitatorOf(chain, config, now)
  const refunds = privateKeyToAddress(config.refundKey)

  return {
    rail: (earlier) =>
      x402Rail({
        ...{ chain, evidence, facilitator, now, maxHeadSeconds: config.maxHeadSeconds },
        refunds: refundWallet(chain, evidence, config.refundKey, earlier),
      }),

    probe: createProbe(chain, refunds, isCurrent, now),

    facts: () => chainFacts(chain, refunds),

    refundFloat: () => floatOf(chain, refunds),

    maxBorneOut: () => evidence.maxBorneOut(),

    gas: () => gasFacts(chain),

    refundWallet: refunds,

    statement: (wallets) => chainStatement(chain, wallets),

    problems: async (isForMoney) => {
      const [ofNodes, ofKey] = await Promise.all([
        problemsOf(chain, nodes, isForMoney),
        keyProblemsOf(config),
      ])
      return [...ofNodes, ...ofKey]
    },

    verifyMessage: (args) => reader.verifyMessage(args),
  }
}

function facilitatorOf(chain: Chain, config: ChainConfig, now: () => Date): Facilitator {
  const { facilitatorUrl: url, facilitatorKey: key, facilitatorEveryMs: everyMs } = config
  const own = ownFacilitator(chain, config.walletFactories)
  if (url === undefined) return own
  const hosted = hostedFacilitator(chain, url, key)
  return everyMs === undefined ? hosted : occasionally(own, hosted, { everyMs, now })
}

async function keyProblemsOf({ facilitatorUrl, facilitatorKey }: ChainConfig): Promise<string[]> {
  if (facilitatorUrl === undefined || facilitatorKey === undefined) return []
  const problem = await keyProblem(facilitatorUrl, facilitatorKey)
  return problem === undefined ? [] : [`FACILITATOR_KEY: ${problem}`]
}

async function problemsOf(
  node: ChainNode,
  witnesses: readonly ChainNode[],
  isForMoney: boolean,
): Promise<readonly string[]> {
  const [own, ...others] = await Promise.all(
    [node, ...witnesses].map((one) => problemOf(one, isForMoney)),
  )
  return [
    ...(own === undefined ? [] : [`RPC_URL: ${own}`]),
    // Named by its place in the list, because its URL may contain a key.
    ...others.flatMap((problem, index) =>
      problem === undefined ? [] : [`RPC_WITNESS_URLS: of number ${index + 1}, ${problem}`],
    ),
  ]
}

/** What is wrong with the answers of a node. One that does not answer is left to the health signal. */
async function problemOf(
  { reader, network }: ChainNode,
  isForMoney: boolean,
): Promise<string | undefined> {
  try {
    const chainId = await reader.getChainId()
    if (chainId !== network.chainId) {
      return `it serves chain ${chainId}, and ${network.name} is ${network.chainId}`
    }
    const client = isForMoney ? await programOf(reader) : ''
    if (/anvil|hardhat|ganache/i.test(client)) {
      return `it is a development node (${client.slice(0, 40)}), whose money is not real; set REHEARSAL=1 to use it`
    }
    const address = network.usdc as Hex
    const code = await reader.getCode({ address })
    if (code === undefined) return `it has no USDC at ${address}`
    const functionName = 'DOMAIN_SEPARATOR'
    const separator = await reader.readContract({ address, abi: tokenAbi, functionName })
    return separator === separatorOf(network)
      ? undefined
      : `its USDC at ${address} has another EIP-712 domain than src/payments/networks.ts gives for ${network.name}`
  } catch {
    return undefined
  }
}

/** The software of the node; empty if it does not say, as with some providers. Every development node says. */
async function programOf(reader: ChainNode['reader']): Promise<string> {
  try {
    return await reader.request({ method: 'web3_clientVersion' })
  } catch (error) {
    if (isSilence(error)) throw error
    return ''
  }
}
