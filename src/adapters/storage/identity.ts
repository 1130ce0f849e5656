import type { Database } from './database.ts'

/** The store that a database belongs to. */
export interface StoreIdentity {
  readonly mode: 'sandbox' | 'rehearsal' | 'live'
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  readonly payTo: string
}

type Owner = Pick<StoreIdentity, 'mode' | 'network' | 'asset'>

/**
 * Rejects the database of another store before anything is changed in it.
 *
 * @returns true if it belongs to this store, false if no store has claimed it
 * @throws Error that names the store that it belongs to
 */
export async function requireOwn(database: Database, identity: StoreIdentity): Promise<boolean> {
  const { rows } = await database.query<{ exists: boolean }>(
    `select to_regclass('store_identity') is not null as exists`,
  )
  const owner = rows[0]?.exists ? await ownerOf(database) : undefined
  if (owner === undefined) return false
  const isOwn =
    owner.mode === identity.mode &&
    owner.network === identity.network &&
    owner.asset === identity.asset.toLowerCase()
  if (!isOwn) throw belongsTo(owner, identity)
  return true
}

/**
 * Claims the database at the first start, and afterwards rejects a store of another mode, network or asset.
 * Otherwise test orders could be refunded with real money, the sandbox could deliver paid orders, and a
 * rehearsal's payments would be looked up on another chain. The pay-to address may change; the newest is
 * recorded.
 *
 * @throws Error that names the store that it belongs to
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
  throw belongsTo(await ownerOf(database), identity)
}

async function ownerOf(database: Database): Promise<Owner | undefined> {
  const { rows } = await database.query<Owner>('select mode, network, asset from store_identity')
  return rows[0]
}

function belongsTo(owner: Owner | undefined, { mode, network, asset }: StoreIdentity): Error {
  return new Error(
    `This database belongs to a ${owner?.mode} store on ${owner?.network} (${owner?.asset}) and ` +
      `cannot serve a ${mode} store on ${network} (${asset.toLowerCase()}). ` +
      'Point DATABASE_URL (or DATA_DIR) at another one.',
  )
}
