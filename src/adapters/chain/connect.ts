import { encodeFunctionData, type Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { usdc } from '../../lib/money.ts'
import type { ChainFacts, X402Method } from '../../payments/payment.ts'
import type { StoreWallet } from '../../reconcile/ports.ts'
import {
  type Chain,
  type ChainNode,
  type ChainOptions,
  headAgeOf,
  openChain,
  openNode,
} from './clients.ts'
import {
  type FacilitatorKey,
  hostedFacilitator,
  keyProblem,
  occasionally,
  ownFacilitator,
} from './facilitator.ts'
import { evidenceOf } from './proofs.ts'
import { refundWallet } from './refunds.ts'
import { isSilence, isTooOften } from './rpc.ts'
import { chainStatement } from './statement.ts'
import {
  floatOf,
  leastSettlementCost,
  separatorOf,
  tokenAbi,
  tokenLogsIn,
  topicOf,
  usedTopic,
} from './token.ts'
import { x402Method } from './x402.ts'

export interface ChainConfig extends ChainOptions {
  readonly maxHeadSeconds: number
  /** Further nodes of the same chain; without them, `rpcUrl` alone is believed. */
  readonly witnesses?: { readonly urls: readonly string[]; readonly fromUsdc: number } | undefined
  readonly refundKey: Hex
  readonly facilitatorUrl?: string | undefined
  readonly facilitatorKey?: FacilitatorKey | undefined
  /** How often the hosted facilitator gets a settlement, while we settle the rest. Left out: it settles all. */
  readonly facilitatorEveryMs?: number | undefined
  readonly walletFactories: readonly string[]
}

export type ConnectedChain = ReturnType<typeof connectChain>

export function connectChain(config: ChainConfig, now: () => Date) {
  const chain = openChain(config)
  const { reader } = chain
  const { urls = [], fromUsdc = 0 } = config.witnesses ?? {}
  const nodes = urls.map((rpcUrl) => openNode({ ...config, rpcUrl }))
  const isCurrent = (timestamp: bigint) => headAgeOf({ timestamp }, now()) <= config.maxHeadSeconds
  const from = usdc(BigInt(fromUsdc) * 1_000_000n)
  const evidence = evidenceOf(chain, { nodes, from, isCurrent })
  const { facilitatorUrl: url, facilitatorKey: key, facilitatorEveryMs: everyMs } = config
  const own = ownFacilitator(chain, config.walletFactories)
  const hosted = url === undefined ? undefined : hostedFacilitator(chain, url, key)
  const facilitator =
    hosted && everyMs !== undefined ? occasionally(own, hosted, { everyMs, now }) : (hosted ?? own)
  const refunds = privateKeyToAddress(config.refundKey)

  return {
    x402: (earlier: readonly string[]): X402Method =>
      x402Method({
        ...{ chain, evidence, facilitator, now, maxHeadSeconds: config.maxHeadSeconds },
        refunds: refundWallet(chain, evidence, config.refundKey, earlier),
      }),
    probe: createProbe(chain, refunds, isCurrent, now),
    facts: () => chainFacts(chain, refunds),
    refundFloat: () => floatOf(chain, refunds),
    maxBorneOut: evidence.maxBorneOut,
    /** The balance of the gas wallet and the cost of one transfer and of a settlement, in wei. */
    gas: () => gasFacts(chain, config),
    refundWallet: refunds as string,
    statement: (wallets: readonly StoreWallet[]) => chainStatement(chain, wallets),
    /** What is wrong with these nodes or with the facilitator key, by variable. Silent ones have no problem. */
    async problems(isForMoney: boolean): Promise<readonly string[]> {
      const [ofNodes, ofKey] = await Promise.all([
        problemsOf(chain, nodes, isForMoney),
        url && key ? keyProblem(url, key) : undefined,
      ])
      return ofKey === undefined ? ofNodes : [...ofNodes, `FACILITATOR_KEY: ${ofKey}`]
    },
    verifyMessage: (args: { address: Hex; message: string; signature: Hex }): Promise<boolean> =>
      reader.verifyMessage(args),
  }
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

async function chainFacts(
  { network, reader, gasAccount }: Chain,
  refundWallet: string,
): Promise<ChainFacts> {
  const [head, safe, refundFloat, gasWei] = await Promise.all([
    reader.getBlock(),
    reader.getBlock({ blockTag: 'safe' }),
    floatOf({ network, reader }, refundWallet),
    reader.getBalance({ address: gasAccount.address }),
  ])
  return { headAt: timeOf(head), safeHeadAt: timeOf(safe), refundFloat, gasWei }
}

/** The gas of a plain transfer with its margin, rounded up for one resend at a higher fee. */
const gasOfTransfer = 150_000n

async function gasFacts(chain: Chain, { facilitatorUrl, facilitatorEveryMs }: ChainConfig) {
  const { reader, gasAccount, fees, maxSettlementWei: most } = chain
  const [balance, { maxFeePerGas }, cost] = await Promise.all([
    reader.getBalance({ address: gasAccount.address }),
    fees(),
    leastSettlementCost(chain),
    chain.ethPrice.refresh(),
  ])
  const isOurs = facilitatorUrl === undefined || facilitatorEveryMs !== undefined
  const settlement = isOurs ? { cost, most } : undefined
  return { balance, perTransfer: gasOfTransfer * maxFeePerGas, settlement }
}

function timeOf({ timestamp }: { readonly timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1_000)
}

/** A plan that answers for fewer blocks of logs is too small for a store. */
const probedBlocks = 100

const maxUnseenMs = 5 * 60_000

/** Payments can use up the quota, so a probe at the rate limit is no outage while the node answers other calls. */
function createProbe(
  chain: Chain,
  wallet: string,
  isCurrent: (timestamp: bigint) => boolean,
  now: () => Date,
): () => Promise<void> {
  let wellAt = Number.NEGATIVE_INFINITY
  let lastLook = performance.now()
  return async () => {
    const since = lastLook
    lastLook = performance.now()
    try {
      await probe(chain, wallet, isCurrent)
      wellAt = now().getTime()
    } catch (error) {
      const isSeen = chain.load.hasAnsweredSince(since) && now().getTime() - wellAt < maxUnseenMs
      if (!isSeen || !isTooOften(error)) throw error
    }
  }
}

/** The calls of purchases and refunds, about our own wallet, so that nobody else shapes the answers. */
async function probe(
  chain: Chain,
  wallet: string,
  isCurrent: (timestamp: bigint) => boolean,
): Promise<void> {
  const { gasAccount, network, reader } = chain
  const token = network.usdc as Hex
  const head = await chain.newestBlock()
  if (!isCurrent(head.timestamp)) throw new Error('The newest block is old.')
  const safe = Number((await reader.getBlock({ blockTag: 'safe' })).number)
  const from = Math.max(0, safe - probedBlocks + 1)
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'isBlacklisted',
    args: [wallet as Hex],
  })
  await Promise.all([
    floatOf(chain, wallet),
    reader.estimateGas({ account: gasAccount.address, to: token, data }),
    tokenLogsIn(chain, { from, to: 'safe' }, [usedTopic, topicOf(wallet)]),
  ])
}
