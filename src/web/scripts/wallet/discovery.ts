import type { EIP1193Provider } from 'viem'

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
