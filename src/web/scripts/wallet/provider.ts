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
import { type Authorization, typedData } from './terms.ts'

/** Why a wallet did not do what it was asked. */
interface WalletFault {
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

/** A wallet that announced itself to this page (EIP-6963). */
export interface FoundWallet {
  readonly uuid: string
  readonly name: string
  /** A data URL; undefined if the wallet gave no icon of an accepted type and size. */
  readonly icon: string | undefined
  readonly provider: EIP1193Provider
}

const maxName = 60
const maxIcon = 64 * 1_024
const iconPattern = /^data:image\/(png|webp|gif|jpeg|svg\+xml)[;,]/

/**
 * Asks the wallets of this browser to announce themselves. Each time another one does, passes all wallets so far to
 * `found`.
 */
export function discover(
  page: EventTarget,
  found: (wallets: readonly FoundWallet[]) => void,
): void {
  const wallets = new Map<string, FoundWallet>()
  page.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = walletIn((event as CustomEvent<unknown>).detail)
    if (wallet === undefined || wallets.has(wallet.uuid)) return
    wallets.set(wallet.uuid, wallet)
    found([...wallets.values()])
  })
  page.dispatchEvent(new Event('eip6963:requestProvider'))
}

/** Reads an announcement. Any extension can pose as a wallet, so only values that are safe to show are accepted. */
function walletIn(detail: unknown): FoundWallet | undefined {
  const { info, provider } = recordOf(detail)
  const { uuid, name, icon } = recordOf(info)
  const isWallet = typeof uuid === 'string' && typeof name === 'string' && name.trim() !== ''
  if (!isWallet || typeof recordOf(provider)['request'] !== 'function') return undefined
  const isIcon = typeof icon === 'string' && icon.length <= maxIcon && iconPattern.test(icon)
  return {
    uuid,
    name: name.trim().slice(0, maxName),
    icon: isIcon ? icon : undefined,
    provider: provider as EIP1193Provider,
  }
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
