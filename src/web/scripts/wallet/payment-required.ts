import type { WalletSettings } from '../../buying/wallet-panel.ts'

/** The fields of the store's 402 (x402, version 2) that are used here. */
export interface PaymentRequired {
  readonly resource: unknown
  readonly extensions: unknown
  readonly accepts: readonly PaymentRequirement[]
}

export interface PaymentRequirement {
  readonly scheme: string
  readonly network: string
  readonly asset: string
  readonly amount: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

export type Judged =
  | { readonly type: 'good'; readonly asked: PaymentRequirement; readonly amount: bigint }
  /** It costs more than the page showed. */
  | { readonly type: 'dearer'; readonly amount: bigint }
  /** It differs from what the page says. Nothing of it is signed. */
  | { readonly type: 'mismatch' }

/** The longest validity that is signed. No payment needs more, and it limits the harm of a wrong answer. */
const maxSeconds = 900

/**
 * Compares the terms of the store with what the page says: the same token, on the same chain, to the same address, and
 * at most the same amount.
 *
 * @param said the maximum price that the page shows, in atomic USDC
 */
export function judge(
  { accepts }: PaymentRequired,
  settings: WalletSettings,
  said: bigint | undefined,
): Judged {
  const asked = accepts.find((one) => isAsSaid(one, settings))
  if (asked === undefined || !/^\d{1,30}$/.test(asked.amount)) return { type: 'mismatch' }
  const amount = BigInt(asked.amount)
  if (said === undefined || amount === 0n) return { type: 'mismatch' }
  return amount > said ? { type: 'dearer', amount } : { type: 'good', asked, amount }
}

function isAsSaid(
  asked: PaymentRequirement,
  { network, asset, payTo, domain }: WalletSettings,
): boolean {
  const { extra, maxTimeoutSeconds: seconds } = asked
  return (
    asked.scheme === 'exact' &&
    asked.network === network.id &&
    same(asked.asset, asset) &&
    same(asked.payTo, payTo) &&
    extra?.['name'] === domain.name &&
    extra['version'] === domain.version &&
    Number.isInteger(seconds) &&
    seconds > 0 &&
    seconds <= maxSeconds
  )
}

/** Addresses differ in the case of their letters only by their checksum. */
function same(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.toLowerCase() === other.toLowerCase()
}
