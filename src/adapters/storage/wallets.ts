import type { StoreWallet, WalletRole } from '../../reconcile/ports.ts'
import type { Database } from './database.ts'

/** The present addresses of a store, one for each role, in any case. */
export type PresentWallets = Readonly<Record<WalletRole, string>>

/** The addresses in the store's configuration. */
export function presentOf(
  { payTo }: { readonly payTo: string },
  { refundWallet }: { readonly refundWallet: string },
): PresentWallets {
  return { pay_to: payTo, refunds: refundWallet }
}

/** Every address at which the store was ever paid or from which it ever refunded. None is ever removed. */
export interface Wallets {
  /** The recorded addresses, and the present ones even if no start has recorded them yet. */
  ours(present: PresentWallets): Promise<readonly StoreWallet[]>
  /** Records the addresses that the store uses from now on. */
  use(present: PresentWallets): Promise<void>
  /** Records an address that the store used before addresses were recorded. */
  addEarlier(role: WalletRole, address: string): Promise<void>
}

interface Row {
  readonly role: WalletRole
  readonly address: string
  readonly since: Date | null
}

const roles = ['pay_to', 'refunds'] as const

/** `since` stays null for the first address of a role, which may have been in use for long. */
const useSql = `
  insert into store_wallets (role, address, since)
  values ($1, lower($2), case when exists (select from store_wallets where role = $1) then now() end)
  on conflict do nothing`

const earlierSql = `
  insert into store_wallets (role, address) values ($1, lower($2)) on conflict do nothing`

/** The addresses of a store that has recorded none. */
export function onlyPresent(present: PresentWallets): readonly StoreWallet[] {
  return roles.map((role) => ({ role, address: present[role].toLowerCase(), isPresent: true }))
}

export function createWallets(database: Database): Wallets {
  return {
    async ours(present) {
      const { rows } = await database.query<Row>(
        'select role, address, since from store_wallets order by since nulls first, role, address',
      )
      const known = rows.map(({ since, ...wallet }) => ({
        ...wallet,
        isPresent: present[wallet.role].toLowerCase() === wallet.address,
        ...(since && { since }),
      }))
      const isKnown = new Set(known.flatMap(({ role, isPresent }) => (isPresent ? [role] : [])))
      return [...known, ...onlyPresent(present).filter(({ role }) => !isKnown.has(role))]
    },
    async use(present) {
      for (const role of roles) await database.query(useSql, [role, present[role]])
    },
    async addEarlier(role, address) {
      await database.query(earlierSql, [role, address])
    },
  }
}
