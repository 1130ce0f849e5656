import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import {
  type Address,
  createPublicClient,
  erc20Abi,
  type Hash,
  http,
  isAddressEqual,
  parseEventLogs,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { SandboxInfo } from './answers.ts'

/** The terms of a 402. */
export interface Asked {
  /** Atomic USDC. */
  readonly amount: bigint
  readonly network: string
  readonly payTo: string
}

export interface Transfer {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
}

/** A new wallet, and the two things that a buyer does with it: pay, and read the chain. */
export interface Buyer {
  readonly address: Address
  /** Atomic USDC, read from the chain. */
  balance(): Promise<bigint>
  /**
   * `fetch`, with the stock x402 client that answers a 402. `onAsked` is called with the price before the payment is
   * signed.
   */
  fetchPaid(url: string, init: RequestInit, onAsked: (asked: Asked) => void): Promise<Response>
  /** The balance of the wallet after the block of a transaction, in atomic USDC. */
  balanceAfter(transaction: Hash): Promise<bigint>
  /** The USDC transfers of a transaction, from its logs. */
  transfersIn(transaction: Hash): Promise<readonly Transfer[]>
}

/** Makes a new, empty wallet for the sandbox's chain. */
export function newBuyer({ rpcUrl, usdc }: SandboxInfo): Buyer {
  const account = privateKeyToAccount(generatePrivateKey())
  const chain = createPublicClient({ transport: http(rpcUrl) })
  const unread = (error: unknown): never => {
    throw new Error(`The chain at ${rpcUrl} cannot be read from here.`, { cause: error })
  }
  const balanceAt = (at: { blockNumber?: bigint }) =>
    chain
      .readContract({
        address: usdc,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [account.address],
        ...at,
      })
      .catch(unread)
  const receiptOf = async (hash: Hash) => {
    const receipt = await chain.waitForTransactionReceipt({ hash }).catch(unread)
    if (receipt.status !== 'success') throw new Error(`The transaction ${hash} was reverted.`)
    return receipt
  }
  return {
    address: account.address,
    balance: () => balanceAt({}),
    async balanceAfter(transaction) {
      const { blockNumber } = await receiptOf(transaction)
      return balanceAt({ blockNumber })
    },
    fetchPaid(url, init, onAsked) {
      const client = new x402Client()
        .register('eip155:*', new ExactEvmScheme(account))
        .onBeforePaymentCreation(async ({ selectedRequirements: { amount, network, payTo } }) =>
          onAsked({ amount: BigInt(amount), network, payTo }),
        )
      return wrapFetchWithPayment(fetch, client)(url, init)
    },
    async transfersIn(transaction) {
      const { logs } = await receiptOf(transaction)
      return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs })
        .filter(({ address }) => isAddressEqual(address, usdc))
        .map(({ args }) => args)
    },
  }
}
