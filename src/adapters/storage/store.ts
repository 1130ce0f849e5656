import { isDeepStrictEqual } from 'node:util'
import type { Pool } from 'pg'
import { StartRefused } from '../../lib/errors.ts'
import { hereForSeconds, type NodeBook, type OtherNode } from '../../nodes/nodes.ts'
import type { NonceStore } from '../../orders/ports.ts'
import type { StoreWallet, WalletRole } from '../../reconcile/ports.ts'
import type { Database } from './database.ts'

export interface StoreIdentity {
  readonly mode: 'sandbox' | 'rehearsal' | 'live'
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
}

/** Before anything is changed in it. Returns whether a store has claimed it. @throws Error that names another owner */
export async function requireOwn(
  database: Database,
  { mode, network, asset }: Omit<StoreIdentity, 'payTo'>,
): Promise<boolean> {
  const { rows } = await database.query<{ exists: boolean }>(
    `select to_regclass('store_identity') is not null as exists`,
  )
  if (!rows[0]?.exists) return false
  const owners = await database.query<Omit<StoreIdentity, 'payTo'>>(
    'select mode, network, asset from store_identity',
  )
  const [owner] = owners.rows
  if (owner === undefined) return false
  const ours = { mode, network, asset: asset.toLowerCase() }
  if (isDeepStrictEqual({ ...owner }, ours)) return true
  throw new StartRefused(
    `This database belongs to a ${owner.mode} store on ${owner.network} (${owner.asset}) and ` +
      `cannot serve a ${mode} store on ${network} (${ours.asset}). ` +
      'Point DATABASE_URL (or DATA_DIR) at another one.',
  )
}

/** Another mode or network must not refund test orders with real money. */
export async function claimIdentity(database: Database, identity: StoreIdentity): Promise<void> {
  const { mode, network, asset, payTo } = identity
  await database.query(
    `insert into store_identity (mode, network, asset, pay_to, claimed_at)
     values ($1, $2, lower($3), lower($4), now()) on conflict do nothing`,
    [mode, network, asset, payTo],
  )
  await requireOwn(database, identity)
  await database.query('update store_identity set pay_to = lower($1)', [payTo])
}

export type PresentWallets = Readonly<Record<WalletRole, string>>

export function presentOf(
  { payTo }: { readonly payTo: string },
  { refundWallet }: { readonly refundWallet: string },
): PresentWallets {
  return { pay_to: payTo, refunds: refundWallet }
}

interface Row {
  readonly role: WalletRole
  readonly address: string
  readonly since: Date | null
  readonly until: Date | null
}

const roles = ['pay_to', 'refunds'] as const

/** `since` stays null for the first address of a role, which may have been in use for long. */
const useSql = `
  with last as (
    select address from store_wallets where role = $1 and named_at is null order by seq desc limit 1
  )
  insert into store_wallets (role, address, since)
  select $1, lower($2), case when exists (select from store_wallets where role = $1) then now() end
  where not exists (select from last where address = lower($2))`

const earlierSql = `
  insert into store_wallets (role, address, named_at) select $1, lower($2), now()
  where not exists (select from store_wallets where role = $1 and address = lower($2))`

/** Each address with its first time and the end of its last: it may have been the store's several times. */
const walletsSql = `
  with times as (
    select *, coalesce(named_at, lead(since) over (partition by role, named_at is null order by seq)) as until
    from store_wallets
  )
  select role, address, case when bool_and(since is not null) then min(since) end as since,
    (array_agg(until order by seq desc))[1] as until
  from times group by role, address order by 3 nulls first, role, address`

export function onlyPresent(present: PresentWallets): readonly StoreWallet[] {
  return roles.map((role) => ({ role, address: present[role].toLowerCase(), isPresent: true }))
}

export function createWallets(database: Database) {
  return {
    async ours(present: PresentWallets): Promise<readonly StoreWallet[]> {
      const { rows } = await database.query<Row>(walletsSql)
      const stored = rows.map(({ since, until, ...wallet }) => {
        const isPresent = present[wallet.role].toLowerCase() === wallet.address
        const times = { ...(since && { since }), ...(until && !isPresent && { until }) }
        return { ...wallet, isPresent, ...times }
      })
      const storedRoles = new Set(
        stored.flatMap(({ role, isPresent }) => (isPresent ? [role] : [])),
      )
      return [...stored, ...onlyPresent(present).filter(({ role }) => !storedRoles.has(role))]
    },
    async use(present: PresentWallets): Promise<void> {
      for (const role of roles) await database.query(useSql, [role, present[role]])
    },
    async addEarlier(role: WalletRole, address: string): Promise<void> {
      await database.query(earlierSql, [role, address])
    },
  }
}

/** A node with a key that this one lacks stays for a week after it is gone, so that the operator sees it. */
const beatSql = `
  with gone as (
    delete from nodes
    where id <> $1 and (left_at is not null or seen_at < clock_timestamp() - $6 * interval '1 second')
      and ($5::jsonb ? key_id or seen_at < clock_timestamp() - interval '7 days')
  ), here as (
    insert into nodes (id, name, version, key_id, settings, seen_at)
    values ($1, $2, $3, $4, $5, clock_timestamp())
    on conflict (id) do update set seen_at = excluded.seen_at, left_at = null
  )
  select name, version, key_id as "keyId", settings, is_here as "isHere"
  from nodes,
    lateral (select left_at is null and seen_at > clock_timestamp() - $6 * interval '1 second' as is_here) as state
  where id <> $1 and (is_here or not $5::jsonb ? key_id)
  order by name, id`

export function createNodeBook(pool: Pool): NodeBook {
  return {
    async beat({ id, name, version, keyId, settings }) {
      const values = [id, name, version, keyId, JSON.stringify(settings), hereForSeconds]
      return (await pool.query<OtherNode>(beatSql, values)).rows
    },
    async leave(id) {
      await pool.query('update nodes set left_at = clock_timestamp() where id = $1', [id])
    },
  }
}

/** The node that checks a message may have a clock that is behind. */
const rememberFor = '1 hour'

export function createNonceStore(
  database: Database,
): NonceStore & { forgetExpired(): Promise<number> } {
  return {
    async useOnce(nonce, expiresAt) {
      const { rowCount } = await database.query(
        'insert into used_nonces (nonce, expires_at) values ($1, $2) on conflict do nothing',
        [nonce, expiresAt],
      )
      return rowCount === 1
    },

    async isUsed(nonce) {
      const sql = 'select from used_nonces where nonce = $1'
      return (await database.query(sql, [nonce])).rowCount === 1
    },

    async forgetExpired() {
      const { rowCount } = await database.query(
        'delete from used_nonces where expires_at < now() - $1::interval',
        [rememberFor],
      )
      return rowCount ?? 0
    },
  }
}
