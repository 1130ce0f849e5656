import type { WalletSettings } from '../../buying/wallet-panel.ts'

/** What the store asks to be signed (x402, version 2), as far as it is read here. */
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
  /** It costs more than the page said. */
  | { readonly type: 'dearer'; readonly amount: bigint }
  /** It is not what the page said. Nothing of it is signed. */
  | { readonly type: 'mismatch' }

/** Longer than this nobody needs to sign for, and it bounds what a wrong answer could do. */
const maxSeconds = 900

/**
 * Holds what the store asks for against what the page says: the same coin, on the same chain, to the
 * same address, and no more of it.
 *
 * @param said the most that the page says it costs
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
