import type { Pool } from 'pg'
import type { SnapshotStore } from '../../catalog/ports.ts'
import type {
  CheckoutFacts,
  CheckoutStore,
  HandPayouts,
  PayoutRecord,
} from '../../checkouts/ports.ts'
import type { NodeBook } from '../../nodes/nodes.ts'
import type { MailBook } from '../../orders/mail.ts'
import type {
  ApprovalStore,
  LimitStore,
  NonceStore,
  OpenFacts,
  OrderFacts,
  OrderStore,
  PayoutLimits,
  ReservationStore,
} from '../../orders/ports.ts'
import type { WebhookStore } from '../../orders/webhooks/ports.ts'
import type { Network } from '../../payments/networks.ts'
import type { CheckoutRecord, Movements, StoreRecord } from '../../reconcile/ports.ts'
import { createApprovalStore } from './approvals.ts'
import { checkoutFacts } from './checkout-facts.ts'
import { createCheckoutRecord } from './checkout-record.ts'
import { createCheckoutStore } from './checkouts.ts'
import { type Database, openDatabase, type Trouble } from './database.ts'
import { createHandPayouts } from './hand-payouts.ts'
import { claimIdentity, requireOwn, type StoreIdentity } from './identity.ts'
import { migrate, requireMigrated } from './migrate.ts'
import { createMovements } from './movements.ts'
import { createNodeBook } from './nodes.ts'
import { createNonceStore } from './nonces.ts'
import { addUpEnds, openFacts, orderFacts } from './order-facts.ts'
import { createMailBook } from './order-mail.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits, type RefundCaps } from './payout-limits.ts'
import { createPayoutRecord } from './payout-record.ts'
import { createReservationStore } from './reservations.ts'
import { requireServer } from './server.ts'
import { createSnapshotStore } from './snapshots.ts'
import { createStoreRecord } from './store-record.ts'
import { createLimitStore } from './wallet-limits.ts'
import { createWallets, type Wallets } from './wallets.ts'
import { createWebhookStore } from './webhooks.ts'

/** Everything the store keeps, on one pool of connections. */
export interface Storage {
  readonly orders: OrderStore
  readonly checkouts: CheckoutStore
  readonly handPayouts: HandPayouts
  readonly payoutRecord: PayoutRecord
  readonly limits: LimitStore
  readonly approvals: ApprovalStore
  readonly reservations: ReservationStore
  readonly payoutLimits: PayoutLimits
  readonly nonces: NonceStore
  readonly nodes: NodeBook
  readonly snapshots: SnapshotStore
  readonly mail: MailBook
  readonly webhooks: WebhookStore
  readonly record: StoreRecord
  readonly checkoutRecord: CheckoutRecord
  readonly movements: Movements
  readonly wallets: Wallets
  /** Forgets sign-in nonces that have run out anyway. Returns how many. */
  forgetNonces(): Promise<number>
  /** Quick however many orders there are. Throws as `probe` does. */
  orderFacts(): Promise<OrderFacts>
  /** Keeps `orderFacts` quick: what was counted is added up. */
  addUpEnds(): Promise<void>
  /** What is under way with checkouts. Throws as `probe` does. */
  checkoutFacts(): Promise<CheckoutFacts>
  /** What has to be known before more is sold; quick however many orders there are. */
  openFacts(): Promise<OpenFacts>
  /** Throws when the database does not answer at once, or takes no writes. */
  probe(): Promise<void>
  /** Waits for statements that are under way. */
  close(): Promise<void>
}

export interface StorageOptions extends Pick<StoreIdentity, 'payTo'> {
  readonly mode: 'sandbox' | 'live'
  /** Whether a store in live mode only rehearses. */
  readonly isRehearsal?: boolean | undefined
  readonly databaseUrl: string
  readonly network: Pick<Network, 'id' | 'usdc'>
  readonly refundCaps: RefundCaps
  /** How long one statement may take, where that is not the running store's few seconds. */
  readonly statementTimeoutMs?: number
}

const connectionsPerNode = 10
/** A database that is well answers a look within milliseconds. */
const probeWithinMs = 1_500

/** A database that a store can be opened in, and in which nothing was changed yet. */
export interface Reached {
  /** Whether this store has taken it before. */
  readonly isTaken: boolean
  /**
   * Opens what is there, and changes no table. What was reached is closed when that fails.
   *
   * @throws when it was not set up by this version of the store
   */
  open(): Promise<Storage>
  /**
   * Brings the tables up to date and makes the database this store's. What was reached is closed when
   * that fails.
   *
   * @throws when it was migrated otherwise, or now belongs to another store
   */
  take(): Promise<Storage>
  close(): Promise<void>
}

/**
 * Connects, and changes nothing: what else is wrong with a start may still refuse it.
 *
 * @throws when the server cannot be reached or relied on, or the database belongs to another store
 */
export async function reachStorage(
  options: StorageOptions,
  onError: (error: Error) => void,
  onTrouble?: (trouble: Trouble) => void,
): Promise<Reached> {
  const { databaseUrl, isRehearsal, network, payTo, refundCaps, statementTimeoutMs } = options
  const mode = isRehearsal ? 'rehearsal' : options.mode
  const identity = { mode, network: network.id, asset: network.usdc, payTo } as const
  const applicationName = `kiosk402-${mode}`
  const pool = openDatabase(databaseUrl, {
    applicationName,
    poolSize: connectionsPerNode,
    ...(statementTimeoutMs === undefined ? {} : { statementTimeoutMs }),
    onError,
    ...(onTrouble && { onTrouble }),
  })
  // Apart from the others, because how busy those are says nothing about the server.
  const probes = openDatabase(databaseUrl, {
    applicationName: `${applicationName}-probe`,
    poolSize: 1,
    statementTimeoutMs: probeWithinMs,
    answerWithinMs: probeWithinMs,
    connectWithinMs: probeWithinMs,
    onError: () => undefined,
  })
  const close = async () => {
    await Promise.all([pool.end(), probes.end()])
  }
  const orClose = <T>(work: Promise<T>) =>
    work.catch(async (error: unknown) => {
      await close()
      throw error
    })
  const isTaken = await orClose(requireServer(pool).then(() => requireOwn(pool, identity)))
  const opened = () => ({ ...storesOn(pool, refundCaps), probe: () => probe(probes), close })
  return {
    isTaken,
    close,
    open: () => orClose(requireMigrated(pool)).then(opened),
    take: () => orClose(migrate(pool).then(() => claimIdentity(pool, identity))).then(opened),
  }
}

function storesOn(pool: Pool, refundCaps: RefundCaps): Omit<Storage, 'probe' | 'close'> {
  const nonces = createNonceStore(pool)
  return {
    orders: createOrderStore(pool),
    checkouts: createCheckoutStore(pool),
    handPayouts: createHandPayouts(pool),
    payoutRecord: createPayoutRecord(pool),
    limits: createLimitStore(pool),
    approvals: createApprovalStore(pool),
    reservations: createReservationStore(pool),
    payoutLimits: createPayoutLimits(pool, refundCaps),
    nonces,
    nodes: createNodeBook(pool),
    snapshots: createSnapshotStore(pool),
    mail: createMailBook(pool),
    webhooks: createWebhookStore(pool),
    record: createStoreRecord(pool),
    checkoutRecord: createCheckoutRecord(pool),
    movements: createMovements(pool),
    wallets: createWallets(pool),
    forgetNonces: () => nonces.forgetExpired(),
    orderFacts: () => orderFacts(pool),
    addUpEnds: () => addUpEnds(pool),
    checkoutFacts: () => checkoutFacts(pool),
    openFacts: () => openFacts(pool),
  }
}

async function probe(database: Database): Promise<void> {
  const { rows } = await database.query<{ read_only: string }>(
    `select current_setting('transaction_read_only') as read_only`,
  )
  if (rows[0]?.read_only !== 'off') throw new Error('The database takes no writes.')
}
