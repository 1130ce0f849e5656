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

/** The terms of a 402. */
export interface Terms {
  /** Atomic USDC. */
  readonly amount: bigint
  readonly network: string
  readonly payTo: string
}

/** Makes a new, empty wallet for the sandbox's chain, which pays and reads the chain. */
export function newBuyer({ rpcUrl, usdc }: { rpcUrl: string; usdc: Address }) {
  const account = privateKeyToAccount(generatePrivateKey())
  const { address } = account
  const chain = createPublicClient({ transport: http(rpcUrl) })
  const unread = (cause: unknown): never => {
    throw new Error(`The chain at ${rpcUrl} cannot be read from here.`, { cause })
  }
  const balanceOf = {
    address: usdc,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  } as const
  return {
    address,
    /** Atomic USDC, read from the chain. */
    balance: () => chain.readContract(balanceOf).catch(unread),
    /** `fetch`, with the stock x402 client, which answers a 402. `onTerms` is called before the payment is signed. */
    fetchPaid(onTerms: (terms: Terms) => void) {
      const client = new x402Client()
        .register('eip155:*', new ExactEvmScheme(account))
        .onBeforePaymentCreation(async ({ selectedRequirements: { amount, network, payTo } }) =>
          onTerms({ amount: BigInt(amount), network, payTo }),
        )
      return wrapFetchWithPayment(fetch, client)
    },
    /** What a transaction brought to this wallet, in atomic USDC, from its logs. */
    async receivedIn(hash: Hash) {
      const { status, logs } = await chain.waitForTransactionReceipt({ hash }).catch(unread)
      if (status !== 'success') throw new Error(`The transaction ${hash} was reverted.`)
      return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs })
        .filter((log) => isAddressEqual(log.address, usdc) && isAddressEqual(log.args.to, address))
        .reduce((sum, { args }) => sum + args.value, 0n)
    },
  }
}

export type Buyer = ReturnType<typeof newBuyer>
