import type { EIP1193Provider } from 'viem'

/** A wallet that told this page about itself (EIP-6963). */
export interface FoundWallet {
  readonly uuid: string
  readonly name: string
  /** A picture that stands in its own address; undefined where the wallet gave another sort. */
  readonly icon: string | undefined
  readonly provider: EIP1193Provider
}

const maxName = 60
const maxIcon = 64 * 1_024
const iconPattern = /^data:image\/(png|webp|gif|jpeg|svg\+xml)[;,]/

/**
 * Asks the wallets of this browser to tell about themselves, and gives all that did, each time that one
 * more does.
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

/** Anything in the page can pose as a wallet, so nothing is taken that could harm by being shown. */
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
