import { type Usdc, usdc } from '../../../lib/money.ts'
import type { WalletSettings } from '../../buying/buy-form.ts'
import { type Authorization, type Hex, typedData } from './terms.ts'

/** The interface of a wallet (EIP-1193). */
export interface Provider {
  request(call: { readonly method: string; readonly params: readonly unknown[] }): Promise<unknown>
}

/** Error codes of EIP-1193, and others that wallets use. */
const codes = { rejected: 4001, unknownChain: 4902, pending: -32_002, internal: -32_603 } as const

export function walletOf(provider: Provider, settings: WalletSettings) {
  const { network } = settings
  const chainId = `0x${network.chainId.toString(16)}`
  const call = (method: string, ...params: unknown[]) => provider.request({ method, params })
  return {
    /** Asks for the account. The wallet opens if its owner has not allowed this site before. */
    async connect(): Promise<Hex | undefined> {
      const [account] = (await call('eth_requestAccounts')) as readonly Hex[]
      return account
    },
    async isOnNetwork(): Promise<boolean> {
      return Number(await call('eth_chainId')) === network.chainId
    },
    /** Asks the wallet to switch to the network, and to add it if the wallet does not know it. */
    async change(): Promise<void> {
      try {
        await call('wallet_switchEthereumChain', { chainId })
      } catch (error) {
        if (codeOf(error) !== codes.unknownChain) throw error
        await call('wallet_addEthereumChain', {
          chainId,
          chainName: network.name,
          nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
          rpcUrls: [network.publicRpcUrl],
          blockExplorerUrls: [new URL(network.explorer).origin],
        })
      }
    },
    /** The balance of the account, in atomic USDC; undefined if the wallet cannot read it. */
    async balance(account: Hex): Promise<Usdc | undefined> {
      // balanceOf(address)
      const data = `0x70a08231${account.slice(2).padStart(64, '0')}`
      return call('eth_call', { to: network.usdc, data }, 'latest')
        .then((answer) => usdc(BigInt(answer as Hex)))
        .catch(() => undefined)
    },
    async sign(authorization: Authorization): Promise<Hex> {
      const data = JSON.stringify(typedData(settings, authorization))
      return (await call('eth_signTypedData_v4', authorization.from, data)) as Hex
    },
  }
}

export type Wallet = ReturnType<typeof walletOf>

/** Why a wallet did not do what it was asked. */
export function faultOf(error: unknown) {
  const code = codeOf(error)
  const [text = ''] = String(recordOf(error)['message'] ?? error).split('\n')
  const reason = text.replace(/\.$/, '').slice(0, 160)
  if (code === codes.rejected || /reject|denied|cancel/i.test(reason)) {
    return { type: 'rejected', reason } as const
  }
  return { type: code === codes.pending ? 'pending' : 'broken', reason } as const
}

/** The wallet's own code: some wrap their errors in an internal one. */
function codeOf(error: unknown): unknown {
  const { code, data } = recordOf(error)
  const inner = recordOf(recordOf(data)['originalError'])['code']
  return [inner, code].find((one) => typeof one === 'number' && one !== codes.internal)
}

/** A wallet that announced itself to this page (EIP-6963). */
export interface FoundWallet {
  readonly uuid: string
  readonly name: string
  /** A data URL; the page loads no other pictures. */
  readonly icon?: string | undefined
  readonly provider: Provider
}

/** Asks the wallets of this browser to announce themselves; `found` gets all of them each time another one does. */
export function discover(
  page: EventTarget,
  onWallets: (wallets: readonly FoundWallet[]) => void,
): void {
  const wallets = new Map<string, FoundWallet>()
  page.addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail
    if (wallets.has(info.uuid)) return
    wallets.set(info.uuid, { ...info, provider })
    onWallets([...wallets.values()])
  })
  page.dispatchEvent(new Event('eip6963:requestProvider'))
}

interface Announcement {
  readonly info: Omit<FoundWallet, 'provider'>
  readonly provider: Provider
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
