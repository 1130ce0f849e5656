import { openLedgerFile } from '../ledger-file.ts'
import type { EsimRefundStatus, Family, Purchase } from './models.ts'
import { openWallet, type Wallet } from './wallet.ts'

/** A purchase: its record, and data that the record does not show. Money is in US cents. */
export interface StoredPurchase {
  readonly type: 'purchase'
  readonly id: string
  readonly family: Family
  readonly acceptedAt: number
  readonly held: number
  readonly charged: number
  readonly refunded: number
  /** The eSIM to which the plan is added. */
  readonly iccid?: string
  readonly record: Purchase
}

export interface StoredRefund {
  readonly type: 'refund'
  readonly id: string
  readonly acceptedAt: number
  readonly record: EsimRefundStatus
}

export type Stored = StoredPurchase | StoredRefund

interface Line {
  readonly entries: readonly Stored[]
  readonly wallet: Wallet
}

/** Every purchase and refund in its newest state, and the wallet. */
export interface Ledger {
  /** The id of the data file: the same after a restart, and different for another file. */
  readonly instance: string
  wallet(): Wallet
  purchase(id: string): StoredPurchase | undefined
  refund(id: string): StoredRefund | undefined
  /** All entries, oldest first. */
  all(): readonly Stored[]
  /** Writes new states and the wallet atomically: both survive a crash, or neither. */
  commit(entries: readonly Stored[], wallet?: Wallet): void
  close(): void
}

export function openLedger(path: string | undefined, openingBalance: number): Ledger {
  const file = openLedgerFile(path)
  const byId = new Map<string, Stored>()
  let wallet = openWallet(openingBalance)
  const apply = (line: Line) => {
    for (const entry of line.entries) byId.set(entry.id, entry)
    wallet = line.wallet
  }
  for (const line of file.lines) apply(line as Line)
  const typed = <T extends Stored['type']>(type: T, id: string) => {
    const entry = byId.get(id)
    return entry?.type === type ? (entry as Extract<Stored, { type: T }>) : undefined
  }
  return {
    instance: file.instance,
    wallet: () => wallet,
    purchase: (id) => typed('purchase', id),
    refund: (id) => typed('refund', id),
    all: () => [...byId.values()],
    commit(entries, next = wallet) {
      const line = { entries, wallet: next }
      file.append(line)
      apply(line)
    },
    close: file.close,
  }
}
