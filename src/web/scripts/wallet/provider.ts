import { createClient, custom, type EIP1193Provider, erc20Abi, type Hex } from 'viem'
import {
  addChain,
  getChainId,
  readContract,
  requestAddresses,
  signTypedData,
  switchChain,
} from 'viem/actions'
import type { WalletSettings } from '../../buying/wallet-panel.ts'
import { type Authorization, typedData } from './authorization.ts'

/** Why a wallet did not do what it was asked. */
export interface WalletFault {
  readonly type: 'rejected' | 'pending' | 'broken'
  readonly reason: string
}

/** Error codes of EIP-1193, and others that wallets use. */
const codes = { rejected: 4001, unknownChain: 4902, pending: -32_002 } as const

/** The functions of a wallet that paying needs. */
export function walletOf(provider: EIP1193Provider, settings: WalletSettings) {
  // A prompt is never repeated automatically.
  const client = createClient({ transport: custom(provider, { retryCount: 0 }) })
  const { network, asset } = settings
  return {
    /** Asks for the account. The wallet opens if its owner has not allowed this site before. */
    async connect(): Promise<Hex | undefined> {
      return (await requestAddresses(client as never))[0]
    },
    async isOnNetwork(): Promise<boolean> {
      return (await getChainId(client)) === network.chainId
    },
    /** Asks the wallet to switch to the network, and to add it if the wallet does not know it. */
    async change(): Promise<void> {
      try {
        await switchChain(client as never, { id: network.chainId })
      } catch (error) {
        if (codeOf(error) !== codes.unknownChain) throw error
        await addChain(client as never, { chain: chainOf(settings) })
      }
    },
    /** The balance of the account, in atomic USDC; undefined if the wallet cannot read it. */
    async balance(account: Hex): Promise<bigint | undefined> {
      const question = { abi: erc20Abi, address: asset as Hex, functionName: 'balanceOf' } as const
      return readContract(client, { ...question, args: [account] }).catch(() => undefined)
    },
    sign: (authorization: Authorization): Promise<Hex> =>
      signTypedData(client, {
        account: authorization.from,
        ...typedData(settings, authorization),
      }),
  }
}

export type Wallet = ReturnType<typeof walletOf>

/** Classifies an error of a wallet. */
export function faultOf(error: unknown): WalletFault {
  const code = codeOf(error)
  const reason = reasonOf(error)
  if (code === codes.rejected || /reject|denied|cancel/i.test(reason))
    return { type: 'rejected', reason }
  if (code === codes.pending) return { type: 'pending', reason }
  return { type: 'broken', reason }
}

function chainOf({ network }: WalletSettings) {
  return {
    id: network.chainId,
    name: network.name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [network.rpcUrl] } },
    blockExplorers: { default: { name: 'Basescan', url: network.explorer } },
  }
}

/** Wallets wrap their own errors in others; the first code found that is not "internal error" is the wallet's. */
function codeOf(error: unknown): number | undefined {
  for (let one = error, depth = 0; depth < 6 && typeof one === 'object' && one; depth += 1) {
    const { code, cause, data } = one as { code?: unknown; cause?: unknown; data?: unknown }
    const inner = (data as { originalError?: { code?: unknown } } | undefined)?.originalError?.code
    for (const known of [inner, code]) {
      if (typeof known === 'number' && known !== -32_603) return known
    }
    one = cause
  }
  return undefined
}

/** The first line of the most specific message, because libraries write long ones. */
function reasonOf(error: unknown): string {
  const { shortMessage, details, message } = Object(error) as Record<string, unknown>
  const [text = ''] = String(details || shortMessage || message || error).split('\n')
  return text.replace(/\.$/, '').slice(0, 160)
}
