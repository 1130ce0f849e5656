import type { Database } from './database.ts'

/** Whose orders a database holds. */
export interface StoreIdentity {
  readonly mode: 'sandbox' | 'live'
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
}

/**
 * Makes the database this store's at the first start, and afterwards refuses one that belongs to
 * another mode, network or asset: test orders must never be paid back with money, nor paid orders
 * be delivered by the sandbox. The pay-to address may change; the newest is on record.
 */
export async function claimIdentity(database: Database, identity: StoreIdentity): Promise<void> {
  const { mode, network, asset, payTo } = identity
  await database.query(
    `insert into store_identity (mode, network, asset, pay_to, claimed_at)
     values ($1, $2, lower($3), lower($4), now()) on conflict do nothing`,
    [mode, network, asset, payTo],
  )
  const { rowCount } = await database.query(
    `update store_identity set pay_to = lower($4)
     where mode = $1 and network = $2 and asset = lower($3)`,
    [mode, network, asset, payTo],
  )
  if (rowCount === 1) return
  const { rows } = await database.query<Pick<StoreIdentity, 'mode' | 'network' | 'asset'>>(
    'select mode, network, asset from store_identity',
  )
  const [owner] = rows
  throw new Error(
    `This database belongs to a ${owner?.mode} store on ${owner?.network} (${owner?.asset}) and ` +
      `cannot serve a ${mode} store on ${network} (${asset.toLowerCase()}). ` +
      'Point DATABASE_URL (or DATA_DIR) at another one.',
  )
}
