import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, type Hex, parseAbi } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
  privateKeyToAddress,
} from 'viem/accounts'
import { afterAll, afterEach } from 'vitest'
import { deployContracts, fundWallets, mint } from '../../../sandbox/chain/genesis.ts'
import { loadKeys } from '../../../sandbox/chain/keys.ts'
import { startChainNode } from '../../../sandbox/chain/node.ts'
import { chainClient } from '../../../sandbox/chain/rpc.ts'
import { usdc } from '../../lib/money.ts'
import { networks } from '../../payments/networks.ts'
import type { Collected, X402Payment, X402Receipt } from '../../payments/payment.ts'
import { openChain } from './clients.ts'
import { type ChainConfig, connectChain } from './connect.ts'
import { tokenAbi, transferTypes } from './token.ts'

const network = networks['base-sepolia']
const domain = {
  ...network.usdcDomain,
  chainId: network.chainId,
  verifyingContract: network.usdc as Hex,
}

/** What a 0.5 USDC purchase pays, in atomic units. */
export const price = usdc(500_000n)

const usual = {
  network,
  pollMs: 10,
  maxHeadSeconds: 90,
  walletFactories: [],
  maxSettlementWei: 10n ** 16n,
}

/**
 * A real node with the real token and no clock: a block is made by a transaction, or when a test
 * asks for one. Its `safe` block is the one before the newest. It ends with the tests of the file.
 */
export async function startStillChain() {
  const chainDir = await mkdtemp(join(tmpdir(), 'kiosk402-still-'))
  const keys = await loadKeys(join(chainDir, 'keys.json'))
  const node = await startChainNode(chainDir)
  const client = chainClient(node.rpcUrl)
  await deployContracts(client, keys)
  await fundWallets(client, keys)
  await client.mine({ blocks: 3 })
  afterAll(async () => {
    await node.stop()
    await rm(chainDir, { recursive: true, force: true })
  })

  const config = (changes: Partial<ChainConfig>): ChainConfig => ({
    ...{ ...usual, rpcUrl: node.rpcUrl, gasKey: keys.gas, refundKey: keys.refund },
    ...changes,
  })

  return {
    rpcUrl: node.rpcUrl,
    usdc: network.usdc,
    keys,
    client,
    gasWallet: privateKeyToAddress(keys.gas),
    refundWallet: privateKeyToAddress(keys.refund),
    /** Connects like a store; each connection acts as a process of its own. */
    connect(
      changes: Partial<ChainConfig> = {},
      now = () => new Date(),
      earlier: readonly string[] = [],
    ) {
      const connected = connectChain(config(changes), now)
      return { ...connected, x402: connected.x402(earlier) }
    },
    open: (changes: Partial<ChainConfig> = {}) => openChain(config(changes)),
    mine: (blocks = 1) => client.mine({ blocks }),
    async passTime(seconds: number) {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 2 })
    },
    /** How many transactions the store has sent. */
    sentByUs: () => client.getTransactionCount({ address: privateKeyToAddress(keys.gas) }),
    mintTo: (to: Address, amount: bigint) => mint(client, keys, to, amount),
    /** Replaces the newest blocks by empty ones, or by ones with these signed transactions. */
    async reorganise(depth: number, transactions: readonly (readonly [Hex, number])[] = []) {
      await client.request({ method: 'anvil_reorg', params: [depth, transactions] } as never)
    },
    /** Every transfer of USDC between these wallets that the chain knows now. */
    async transfers(from: string, to: string) {
      const logs = await client.getContractEvents({
        address: network.usdc,
        abi: tokenAbi,
        eventName: 'Transfer',
        args: { from: from as Hex, to: to as Hex },
        fromBlock: 0n,
        strict: true,
      })
      return logs.map((log) => ({ value: log.args.value, transaction: log.transactionHash }))
    },
  }
}

export type StillChain = Awaited<ReturnType<typeof startStillChain>>

export interface Paying {
  readonly amount?: bigint
  readonly validSeconds?: number
  /** What the payer gets before; by default, the amount. */
  readonly minted?: bigint
  /** Who signs, and for which wallet; by default, both are one new wallet. */
  readonly owner?: PrivateKeyAccount
  readonly payer?: Address
  /** A nonce that was used before; by default, a new one. */
  readonly nonce?: Hex
}

/** A payment that is in the newest block, sent by another process. */
export async function landedPayment(chain: StillChain, paying: Paying = {}) {
  const payment = await newPayment(chain, paying)
  const receipt = receiptIn(await chain.connect().x402.collect(payment.payment))
  return { ...payment, receipt }
}

export function receiptIn(collected: Collected<X402Receipt>): X402Receipt {
  if (collected.outcome !== 'settled') throw new Error(JSON.stringify(collected))
  return collected.receipt
}

/** What a refund refers to in tests that do not read the payment's own receipt. */
export const anyReceipt = { method: 'x402', transaction: '0x', block: 0 } as const

/** A new wallet with money, and its signed payment to the store. */
export async function newPayment(chain: StillChain, paying: Paying = {}) {
  const { amount = price, validSeconds = 300, minted = amount } = paying
  const owner = paying.owner ?? privateKeyToAccount(generatePrivateKey())
  const payer = paying.payer ?? owner.address
  if (minted > 0n) await chain.mintTo(payer, minted)
  const { timestamp } = await chain.client.getBlock()
  const nonce: Hex = paying.nonce ?? `0x${randomBytes(32).toString('hex')}`
  const validBefore = Number(timestamp) + validSeconds
  const signature = await owner.signTypedData({
    domain,
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: payer,
      to: chain.keys.payTo,
      value: amount,
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce,
    },
  })
  const payment: X402Payment = {
    ...{ method: 'x402', network: network.id, asset: network.usdc, payTo: chain.keys.payTo },
    ...{ payer, amount: usdc(amount), nonce, validAfter: 0, validBefore, signature, sinceBlock: 0 },
  }
  return { owner, payer, payment }
}

const cancelAbi = parseAbi([
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
])

/** Cancels the authorization of a payment, in a transaction of its payer. */
export async function cancel(
  chain: StillChain,
  { owner, payment }: Pick<Payment, 'owner' | 'payment'>,
) {
  const { client } = chain
  const nonce = payment.nonce as Hex
  const signature = await owner.signTypedData({
    domain,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: owner.address, nonce },
  })
  await client.setBalance({ address: owner.address, value: 10n ** 18n })
  const hash = await client.writeContract({
    address: network.usdc,
    abi: cancelAbi,
    functionName: 'cancelAuthorization',
    args: [owner.address, nonce, signature],
    account: owner,
  })
  await client.waitForTransactionReceipt({ hash })
}

export type Payment = Awaited<ReturnType<typeof newPayment>>

/**
 * What a node answers instead of the truth: a result, an error, or only an HTTP status. `silence` drops
 * the connection, `undefined` gives the true answer.
 */
export type Tamper = (method: string, params: readonly unknown[]) => unknown

/** A node of the same chain that a test can make lie, lag or fall silent. */
export async function startNodeBefore(rpcUrl: string) {
  const state: { tamper: Tamper } = { tamper: () => undefined }
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    const body = await readAll(request)
    const { id, method, params = [] } = JSON.parse(body) as Question
    calls.push(method)
    const lie = await state.tamper(method, params)
    if (lie === 'silence') return void response.destroy()
    const { status } = (lie ?? {}) as { status?: number }
    if (status !== undefined) return void response.writeHead(status).end()
    const answer =
      lie === undefined ? await pass(rpcUrl, body) : JSON.stringify({ id, ...(lie as object) })
    response.setHeader('content-type', 'application/json')
    response.end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    /** Applies from now on; without an argument, the node is honest again. */
    tamper(tamper: Tamper = () => undefined) {
      state.tamper = tamper
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The same for all tests of a file. After each it is honest again. */
export async function nodeBefore(rpcUrl: string) {
  const node = await startNodeBefore(rpcUrl)
  afterEach(() => {
    node.tamper()
    node.calls.length = 0
  })
  afterAll(() => node.stop())
  return node
}

interface Question {
  readonly id: number
  readonly method: string
  readonly params?: readonly unknown[]
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function pass(rpcUrl: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(rpcUrl, { method: 'POST', headers, body })).text()
}
