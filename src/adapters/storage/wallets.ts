import type { StoreWallet, WalletRole } from '../../reconcile/ports.ts'
import type { Database } from './database.ts'

/** The addresses of a store now, one for each role, however they are written. */
export type PresentWallets = Readonly<Record<WalletRole, string>>

/** The addresses that a store is set to now. */
export function presentOf(
  { payTo }: { readonly payTo: string },
  { refundWallet }: { readonly refundWallet: string },
): PresentWallets {
  return { pay_to: payTo, refunds: refundWallet }
}

/** Every address that the store was ever paid at or paid back from. None is ever taken away. */
export interface Wallets {
  /** Those on record, and the present ones, which a store that has not started yet has not put there. */
  ours(present: PresentWallets): Promise<readonly StoreWallet[]>
  /** Puts the addresses on record that the store uses from now on. */
  use(present: PresentWallets): Promise<void>
  /** Puts an address on record that the store used before there was a record of them. */
  addEarlier(role: WalletRole, address: string): Promise<void>
}

interface Row {
  readonly role: WalletRole
  readonly address: string
  readonly since: Date | null
}

const roles = ['pay_to', 'refunds'] as const

/** The first of a role may have been in use for long. */
const useSql = `
  insert into store_wallets (role, address, since)
  values ($1, lower($2), case when exists (select from store_wallets where role = $1) then now() end)
  on conflict do nothing`

const earlierSql = `
  insert into store_wallets (role, address) values ($1, lower($2)) on conflict do nothing`

/** The only addresses of a store that has nothing on record. */
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
