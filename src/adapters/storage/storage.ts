import type { Pool } from 'pg'
import { StartRefused } from '../../lib/errors.ts'
import { within } from '../../lib/scheduling.ts'
import type { NoteShown } from '../../orders/finding.ts'
import type { Network } from '../../payments/networks.ts'
import { auditProblem, noteSettings } from './audit.ts'
import { createCheckoutStore } from './checkouts.ts'
import { type Database, openDatabase, type Trouble } from './database.ts'
import { denylistReader } from './denylist.ts'
import {
  addUpEnds,
  checkoutFacts,
  openFacts,
  orderFacts,
  readDearSales,
  readPace,
} from './facts.ts'
import { createGoodwillStore } from './goodwill.ts'
import { createIncidentBook } from './incidents.ts'
import { createApprovalStore, createLimitStore, createReservationStore } from './limits.ts'
import { migrate } from './migrate.ts'
import { lastRuns } from './operator-runs.ts'
import { createOrderStore } from './orders.ts'
import {
  createHandPayouts,
  createPayoutLimits,
  createPayoutRecord,
  type RefundCaps,
} from './payouts.ts'
import { createCheckoutRecord, createMovements, createStoreRecord } from './record.ts'
import { listRules } from './selling-rules.ts'
import { requireServer } from './server.ts'
import { createShowings } from './showings.ts'
import { createSnapshotStore } from './snapshots.ts'
import {
  claimIdentity,
  createNodeBook,
  createNonceStore,
  createWallets,
  requireOwn,
  type StoreIdentity,
} from './store.ts'
import { createMailBook, createWebhookStore } from './webhooks.ts'

export type Storage = ReturnType<typeof storesOn> & {
  readonly noteShown: NoteShown
  /** @throws when the database does not answer within 1.5 seconds, or accepts no writes */
  probe(): Promise<void>
  close(): Promise<void>
}

export interface StorageOptions extends Pick<StoreIdentity, 'payTo'> {
  readonly mode: 'sandbox' | 'live'
  readonly isRehearsal?: boolean | undefined
  readonly databaseUrl: string
  readonly network: Pick<Network, 'id' | 'usdc'> & Partial<Pick<Network, 'isTestnet'>>
  readonly refundCaps: RefundCaps
}

const connectionsPerNode = 10
const probeWithinMs = 1_500

export interface Reached {
  readonly isTaken: boolean
  /** @throws if it is of another store by now */
  migrateAndClaim(): Promise<Storage>
  close(): Promise<void>
}

export function identityOf({
  mode,
  isRehearsal,
  network,
}: Pick<StorageOptions, 'mode' | 'isRehearsal' | 'network'>): Omit<StoreIdentity, 'payTo'> {
  return { mode: isRehearsal ? 'rehearsal' : mode, network: network.id, asset: network.usdc }
}

/** Changes nothing, because later checks may still stop the start. */
export async function reachStorage(
  options: StorageOptions,
  onError: (error: Error) => void,
  onTrouble?: (trouble: Trouble) => void,
): Promise<Reached> {
  const { databaseUrl, network, payTo, refundCaps } = options
  const identity = { ...identityOf(options), payTo }
  const { mode } = identity
  const applicationName = `kiosk402-${mode}`
  const pool = openDatabase(databaseUrl, {
    applicationName,
    poolSize: connectionsPerNode,
    onError,
    ...(onTrouble && { onTrouble }),
  })
  // A busy main pool says nothing about the server. `within` decides; these timers would blame it for our own
  // standstill.
  const probes = openDatabase(databaseUrl, {
    applicationName: `${applicationName}-probe`,
    poolSize: 1,
    statementTimeoutMs: probeWithinMs,
    answerWithinMs: 2 * probeWithinMs,
    connectWithinMs: 2 * probeWithinMs,
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
  const isRealMoney = mode === 'live' && network.isTestnet === false
  const checked = requireServer(pool).then(() => (isRealMoney ? requireAudit(pool) : undefined))
  const isTaken = await orClose(checked.then(() => requireOwn(pool, identity)))
  const opened = () => {
    const showings = createShowings(pool, onError)
    return {
      ...storesOn(pool, refundCaps),
      noteShown: showings.noteShown,
      probe: () => probe(probes),
      close: () => showings.write().then(close),
    }
  }
  return {
    isTaken,
    close,
    migrateAndClaim: () =>
      orClose(migrate(pool).then(() => claimIdentity(pool, identity))).then(opened),
  }
}

async function requireAudit(pool: Pool): Promise<void> {
  const problem = await auditProblem(pool)
  if (problem !== undefined) throw new StartRefused(problem)
}

export function storesOn(pool: Pool, refundCaps: RefundCaps) {
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
    goodwill: createGoodwillStore(pool),
    nonces,
    nodes: createNodeBook(pool),
    snapshots: createSnapshotStore(pool),
    mail: createMailBook(pool),
    webhooks: createWebhookStore(pool),
    record: createStoreRecord(pool),
    checkoutRecord: createCheckoutRecord(pool),
    movements: createMovements(pool),
    noteSettings: (node: string, settings: Readonly<Record<string, string>>) =>
      noteSettings(pool, node, settings),
    wallets: createWallets(pool),
    denied: denylistReader(pool),
    sellingRules: () => listRules(pool),
    forgetNonces: () => nonces.forgetExpired(),
    orderFacts: () => orderFacts(pool),
    addUpEnds: () => addUpEnds(pool),
    checkoutFacts: () => checkoutFacts(pool),
    openFacts: () => openFacts(pool),
    pace: () => readPace(pool),
    dearSales: () => readDearSales(pool),
    lastRuns: () => lastRuns(pool),
    incidents: createIncidentBook(pool),
  }
}

async function probe(database: Database): Promise<void> {
  const answer = database.query<{ read_only: string }>(
    `select current_setting('transaction_read_only') as read_only`,
  )
  const { rows } = await within(probeWithinMs, answer, 'The database does not answer.')
  if (rows[0]?.read_only !== 'off') throw new Error('The database takes no writes.')
}
