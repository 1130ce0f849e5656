import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import pack from '../package.json' with { type: 'json' }
import { type ConnectedChain, connectChain } from './adapters/chain/connect.ts'
import type { Trouble } from './adapters/storage/database.ts'
import { reachStorage, type Storage } from './adapters/storage/storage.ts'
import { onlyPresent, presentOf } from './adapters/storage/store.ts'
import { type ReceiverNetwork, webhookPost } from './adapters/webhooks/post.ts'
import { approvalWords } from './api/buying/approval.ts'
import { listingOf } from './api/buying/payment-required.ts'
import type { BuyingDeps } from './api/deps.ts'
import { createIssuer } from './api/extensions/policies.ts'
import { type RunningCatalog, startCatalog } from './app/catalog-refresh.ts'
import {
  type CoinPayments,
  checkoutPagesOf,
  connectCoins,
  monitorProcessor,
} from './app/coin-payments.ts'
import { createStoreServer, trackingOf } from './app/store-server.ts'
import { connectSupply, fundedSupplier, type Supply } from './app/supply.ts'
import { type CatalogSummary, catalogSummaryOf, cheapestOf } from './catalog/catalog.ts'
import { invoiceMethod, payoutWatch } from './checkouts/method.ts'
import type { StartDeps } from './checkouts/start.ts'
import type { Common, Outside } from './config.ts'
import { ConfigError } from './environment/environment.ts'
import { createHealth, type Health } from './health/health.ts'
import { currentRequest } from './http/access-log.ts'
import { closeApp } from './http/app.ts'
import { isOwnName } from './http/operator.ts'
import { httpTransport } from './http/payment-headers.ts'
import { type CounterFactory, createLimits } from './http/rate-limit.ts'
import type { SandboxDeps } from './http/sandbox.ts'
import { leastOf } from './lib/money.ts'
import { within } from './lib/scheduling.ts'
import { joinNodes, type Membership } from './nodes/nodes.ts'
import { type Counters, createCounters } from './operations/counters.ts'
import { type MeansSources, monitorFloat } from './operations/float-monitor.ts'
import { keepRetention, runSweeper, sendWebhooks, watchDenylist } from './operations/loops.ts'
import { createMetrics } from './operations/metrics.ts'
import { runHealthChecks } from './operations/probes.ts'
import { partChanges, reporterTo } from './operations/reporter.ts'
import { checkStartup, requireNoRefunds } from './operations/startup-check.ts'
import { createNotifier } from './orders/advance.ts'
import { budgetRules } from './orders/budgets.ts'
import type { PurchaseDeps } from './orders/purchase.ts'
import type { Denylist } from './orders/refusals.ts'
import { createWebhookSender } from './orders/webhooks/sender.ts'
import type { Sweeper } from './orders/workflow.ts'
import { readAddress } from './payments/coins.ts'
import { methodOfNetworks } from './payments/ports.ts'
import { createQuotes } from './payments/terms.ts'
import type { StoreWallet, WalletRole } from './reconcile/ports.ts'
import { createSigningKeys } from './secrets/keys.ts'
import { createDigest, createSigner } from './secrets/tokens.ts'
import { createVault, type Vault } from './secrets/vault.ts'
import { supplierRouter } from './suppliers/supplier.ts'

export interface ServiceOptions {
  readonly config: Common & Outside & { readonly mode: 'sandbox' | 'live' }
  readonly log: Logger
  /** Only in the sandbox. */
  readonly sandbox?: SandboxDeps
  /** Counts requests for the rate limits. Default: in this process alone. */
  readonly counting?: CounterFactory | undefined
  /** How buyers' webhooks are reached, if not over the internet. */
  readonly receivers?: Partial<ReceiverNetwork> | undefined
  /** How often wallets and parts are checked, if not every 5 and 10 s. */
  readonly lookEveryMs?: number | undefined
}

export interface Service {
  readonly app: FastifyInstance
  /** What is on sale, for the message that the store is ready. */
  readonly catalog: () => CatalogSummary
  /**
   * Shows that it is leaving, and serves on for a while; then stops taking requests, finishes the work under
   * way or leaves it to other nodes, and closes everything.
   *
   * @param drainMs how long it serves on; by default not at all
   */
  stop(drainMs?: number): Promise<void>
}

/** The start waits this long for the first look at the wallets. Nothing is sold before it. */
const maxFirstLookMs = 5_000

/** What every part needs, and the signals that stop it. */
interface Ground extends ServiceOptions {
  readonly now: () => Date
  readonly health: Health
  readonly counters: Counters
  readonly signal: AbortSignal
  /** Aborted before `signal`, so that load balancers notice in time. */
  readonly draining: AbortSignal
  readonly failed: (what: string, error: unknown) => void
}

/**
 * Puts the store together. When it returns, the catalog is loaded, the wallets have been read and the
 * background work runs. Nothing listens yet.
 *
 * @throws ConfigError, RecordTooOld
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const stopping = new AbortController()
  const draining = new AbortController()
  const ground = groundOf(options, { signal: stopping.signal, draining: draining.signal })
  const chain = connectChain(options.config, ground.now)
  const supply = connectSupply(ground.config, ground.now)
  const storage = await connectOutside(ground, chain, supply)
  const { guard, membership, standing, ...admitted } = await admit(ground, chain, storage)
  const catalog = await startCatalog(ground, storage.snapshots, supply.sources)
  const coins = connectCoins(options.config, { ...storage, ...ground })
  const parts = { chain, storage, supply, coins, ...admitted }
  const purchases = purchasesOf(ground, { ...parts, catalog })
  const isTestnet = options.config.processor?.isTestnet ?? false
  const checkouts: StartDeps = {
    ...purchases,
    checkouts: storage.checkouts,
    processor: coins.processor,
    hands: storage.handPayouts,
    reportCheckout: reporterOf(ground),
    marks: createDigest(options.config.secretsKeys, 'checkouts'),
    readAddress: (method, text) => readAddress(method, text, { isTestnet }),
  }
  const app = openServer(ground, { ...parts, membership, purchases, checkouts })
  const wallets = watchWallets(ground, { chain, storage, supply, catalog })
  const probes = { database: storage.probe, chain: chain.probe, suppliers: supply.probes }
  const kept = { ...storage, ...ground, personalDataDays: ground.config.personalDataDays }
  const work = [
    ...catalog.work,
    ...standing,
    keepRetention(kept, ground),
    guard.passed.then((isPassed) =>
      isPassed ? runSweeper({ ...checkouts, goodwill: storage.goodwill }, ground) : undefined,
    ),
    sendWebhooks(senderOf(ground, storage, purchases.vault), ground),
    monitorProcessor(coins, ground),
    runHealthChecks(probes, ground.health, stopping.signal, options.lookEveryMs),
    wallets.work,
  ]
  await Promise.race([wallets.read, delay(maxFirstLookMs, undefined, { ref: false })])

  return {
    app,
    catalog: () => catalogSummaryOf(catalog.liveCatalog),
    async stop(drainMs = 0) {
      draining.abort()
      await delay(drainMs)
      stopping.abort()
      await closeApp(app)
      await Promise.all(work)
      await membership.leave()
      await storage.close()
    },
  }
}

function groundOf(options: ServiceOptions, told: Pick<Ground, 'signal' | 'draining'>): Ground {
  const now = () => new Date()
  return {
    ...options,
    ...told,
    now,
    health: createHealth(now),
    counters: createCounters(),
    failed: (what, error) => options.log.error({ error, what }, 'background work failed'),
  }
}

/**
 * Checks everything outside at once, so that the operator reads every mistake in one message. A service
 * that does not answer is no mistake, except the database. A start that is refused here has not changed
 * the database.
 *
 * @throws ConfigError, RecordTooOld
 */
async function connectOutside(
  { config, failed, health }: Ground,
  chain: ConnectedChain,
  supply: Supply,
): Promise<Storage> {
  const [database, chainProblems, supplierProblems] = await Promise.all([
    reachStorage(config, (error) => failed('database', error), tellingOf(health)).catch(
      (error: Error) => error,
    ),
    chain.problems(config.mode === 'live' && !config.isRehearsal),
    supply.problems(),
  ])
  const problems = [
    ...(database instanceof Error ? [wrongDatabase(database)] : []),
    ...chainProblems,
    ...supplierProblems,
  ]
  if (database instanceof Error) throw new ConfigError(problems)
  if (problems.length > 0) {
    await database.close()
    throw new ConfigError(problems)
  }
  if (!database.isTaken) {
    const statement = chain.statement(onlyPresent(presentOf(config, chain)))
    await requireNoRefunds(statement).catch(async (error: unknown) => {
      await database.close()
      throw error
    })
  }
  return database.take().catch((error: Error) => {
    throw new ConfigError([wrongDatabase(error)])
  })
}

const wrongDatabase = (error: Error) => `DATABASE_URL: ${error.message}`

/**
 * Joins the other nodes, reads the denylist, and checks that the record is as new as the chain.
 *
 * @throws RecordTooOld, and closes the storage
 */
async function admit(ground: Ground, chain: ConnectedChain, storage: Storage) {
  try {
    const membership = await joinNodes(storage.nodes, {
      ...ground,
      version: pack.version,
    })
    const present = presentOf(ground.config, chain)
    // Before the check: what an earlier wallet sends after its replacement is no reason to refuse the start.
    await storage.wallets.use(present)
    const wallets = await storage.wallets.ours(present)
    const { record: store, movements } = storage
    const sources = { chain: chain.statement(wallets), store, movements }
    const guard = await checkStartup(sources, ground.health, {
      ...ground,
      report: reporterOf(ground),
    })
    const { denylist, work } = await watchDenylist(storage.denied, ground, ground.lookEveryMs)
    const standing = [membership.work, work]
    return { membership, guard, earlier: earlierOf(wallets), denylist, standing }
  } catch (error) {
    await storage.close()
    throw error
  }
}

function earlierOf(wallets: readonly StoreWallet[]): Parts['earlier'] {
  const of = (role: WalletRole) =>
    wallets.filter((one) => one.role === role && !one.isPresent).map(({ address }) => address)
  return { pay_to: of('pay_to'), refunds: of('refunds') }
}

/** Notes in `health` what failed SQL statements tell about the database. */
const tellingOf =
  (health: Health) =>
  ({ kind, error }: Trouble): void =>
    kind === 'unwritable'
      ? health.noteUnwritable(error.message)
      : health.note('database', false, error.message)

interface Parts {
  readonly chain: ConnectedChain
  readonly storage: Storage
  readonly supply: Supply
  readonly coins: CoinPayments
  readonly catalog: RunningCatalog
  readonly denylist: Denylist
  /** Addresses that the store used before. */
  readonly earlier: Readonly<Record<WalletRole, readonly string[]>>
}

/** Reads the wallets again and again. `read`: all of them were read once. */
function watchWallets(ground: Ground, parts: MeansParts) {
  const changes = partChanges(ground.health, reporterOf(ground))
  const read = Promise.withResolvers<void>()
  const work = monitorFloat(meansOf(ground, parts), ground.health, {
    ...ground,
    everyMs: ground.lookEveryMs,
    onRead: () => {
      changes()
      read.resolve()
    },
  })
  return { work, read: read.promise }
}

type MeansParts = Omit<Parts, 'coins' | 'denylist' | 'earlier'>

/** The sources of what the store can buy and refund with. */
function meansOf(
  { config: { refundCaps } }: Ground,
  { chain, storage, supply, catalog }: MeansParts,
): MeansSources {
  return {
    float: chain.refundFloat,
    gas: chain.gas,
    open: storage.openFacts,
    supplierWallets: walletsOf(supply, 'read'),
    cheapest: () => cheapestOf(catalog.liveCatalog.current()),
    maxRefund: leastOf(Object.values(refundCaps)),
    maxBorneOut: chain.maxBorneOut,
  }
}

function walletsOf<How extends 'read' | 'last'>({ wallets }: Supply, how: How) {
  return new Map(Array.from(wallets, ([name, wallet]) => [name, wallet[how]]))
}

const reporterOf = ({ log, counters }: Ground) =>
  reporterTo(log, currentRequest, counters.countEvent)

function purchasesOf(
  ground: Ground,
  { chain, storage, supply, coins, catalog, denylist, earlier }: Parts,
): PurchaseDeps {
  const { config, now, signal, health } = ground
  return {
    now,
    orders: storage.orders,
    methods: {
      x402: methodOfNetworks(new Map([[config.network.id, chain.x402(earlier.refunds)]])),
      btcpay: invoiceMethod({
        processor: coins.processor,
        hands: storage.handPayouts,
        checkouts: storage.checkouts,
        watch: payoutWatch(storage.payoutRecord, reporterOf(ground)),
      }),
    },
    accepted: new Set(),
    suppliers: supplierRouter(
      new Map(
        Array.from(supply.connected, ([name, one]) => [
          name,
          fundedSupplier(name, one, health, now),
        ]),
      ),
    ),
    budgets: budgetRules(config.budgets),
    limits: storage.limits,
    reservations: storage.reservations,
    approvals: storage.approvals,
    approvalWords: approvalWords(config.site),
    payoutLimits: storage.payoutLimits,
    denylist,
    vault: createVault(config.secretsKeys),
    digest: createDigest(config.secretsKeys, 'orders'),
    notifier: createNotifier(signal),
    within,
    stopping: signal,
    policy: config.policy,
    report: reporterOf(ground),
    liveCatalog: catalog.liveCatalog,
    pricing: catalog.pricing,
    allowsLoopback: receiversOf(ground).allowsLoopback,
    payees: [{ network: config.network, payTo: config.payTo, earlier: earlier.pay_to }],
    quotes: createQuotes(createSigner(config.secretsKeys, 'quote'), now),
    health,
    ...(config.facilitatorUrl === undefined
      ? {}
      : { listingOf: (kind) => listingOf({ site: config.site, ...catalog }, httpTransport, kind) }),
  }
}

/** Whether only this machine can reach the store. */
function isOnlyHere({ config }: Pick<Ground, 'config'>): boolean {
  return [config.host, new URL(config.site.url).host].every(isOwnName)
}

/** How the webhooks of buyers are reached: on this machine only in a sandbox that nobody else reaches. */
function receiversOf(ground: Ground): ReceiverNetwork {
  const allowsLoopback = ground.config.mode === 'sandbox' && isOnlyHere(ground)
  return { allowsLoopback, ...ground.receivers }
}

function senderOf(ground: Ground, { webhooks }: Storage, vault: Vault): Sweeper {
  const { now, counters } = ground
  const post = webhookPost(receiversOf(ground))
  const report = reporterOf(ground)
  return createWebhookSender({ webhooks, post, vault, now, report, count: counters.countWebhook })
}

type ServerParts = Omit<Parts, 'catalog'> & {
  readonly membership: Membership
  readonly purchases: PurchaseDeps
  readonly checkouts: StartDeps
}

function openServer(ground: Ground, parts: ServerParts): FastifyInstance {
  const { chain, storage, supply, coins, purchases, checkouts } = parts
  const { config, log, now, sandbox, health, counters } = ground
  const { site } = config
  const monotonicMs = () => performance.now()
  const tracking = trackingOf(config, storage, sandbox !== undefined)
  const { tokenSigner } = tracking
  return createStoreServer({
    liveCatalog: purchases.liveCatalog,
    pricing: purchases.pricing,
    site,
    log,
    now,
    trustProxy: config.trustProxy,
    limits: createLimits(ground.counting),
    health,
    draining: ground.draining,
    sandbox,
    isLocal: isOnlyHere(ground),
    metrics: {
      token: config.metricsToken,
      isOpenHere: sandbox !== undefined,
      answered: counters.countRequest,
      page: createMetrics({
        now,
        monotonicMs,
        cacheMs: ground.lookEveryMs,
        liveCatalog: purchases.liveCatalog,
        pricing: purchases.pricing,
        health,
        counters: () => counters.registry.metrics(),
        orders: storage.orderFacts,
        checkouts: storage.checkoutFacts,
        webhooks: storage.webhooks.facts,
        chain: chain.facts,
        supplierWallets: walletsOf(supply, 'last'),
        nodes: parts.membership.seen,
      }),
    },
    buying: buyingOf(ground, parts),
    tracking,
    ...checkoutPagesOf(config, coins, { ...checkouts, tokenSigner }),
    processorWebhook: { hasten: storage.checkouts.hasten, invoiceIn: coins.invoiceIn },
    webhook: {
      orders: storage.orders,
      notifier: purchases.notifier,
      suppliers: [...supply.connected.values()],
    },
  })
}

/** What the routes need to sell, show and refund orders. */
function buyingOf(ground: Ground, parts: ServerParts): BuyingDeps {
  const { config, now, health } = ground
  const { chain, storage, purchases } = parts
  const { site } = config
  const { secretsKeys } = config
  const keys = createSigningKeys(secretsKeys, 'receipts')
  return {
    site,
    demands: {
      site,
      issuer: createIssuer(site, keys),
      signals: health.signals,
      fulfillmentDeadlineSeconds: config.policy.deliverWithinMs / 1_000,
    },
    receipts: {
      site,
      vault: purchases.vault,
      keys,
      salts: createDigest(secretsKeys, 'receipt-salt'),
      now,
    },
    purchases,
    orders: storage.orders,
    webhooks: storage.webhooks,
    guardrails: {
      limits: storage.limits,
      digest: purchases.digest,
      now,
      coolingMs: config.limitsCoolingMs,
    },
    signIn: {
      site,
      network: config.network.id,
      nonces: storage.nonces,
      nonceMark: createDigest(secretsKeys, 'sign-in-nonce'),
      verifyMessage: chain.verifyMessage,
      now,
    },
    reveals: createSigner(secretsKeys, 'reveal'),
    listSigner: createSigner(secretsKeys, 'order-list'),
  }
}
