import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import pack from '../package.json' with { type: 'json' }
import type { Sandbox } from '../sandbox/sandbox.ts'
import { type ConnectedChain, connectChain } from './adapters/chain/connect.ts'
import type { RedisCounting } from './adapters/redis/counting.ts'
import { isOutage, type Trouble } from './adapters/storage/database.ts'
import { reachStorage, type Storage } from './adapters/storage/storage.ts'
import { onlyPresent, presentOf } from './adapters/storage/store.ts'
import { type ReceiverNetwork, webhookPost } from './adapters/webhooks/post.ts'
import { approvalWords } from './api/buying/approval.ts'
import { listingOf } from './api/buying/payment-required.ts'
import { type RunningCatalog, startCatalog } from './app/catalog-refresh.ts'
import { connectCoins, monitorProcessor } from './app/coin-payments.ts'
import { sandboxOutside } from './app/sandbox-parts.ts'
import {
  type Ground,
  isOnlyHere,
  openServer,
  type ServerParts,
  type ServiceOptions,
  stateReaderOf,
} from './app/store-server.ts'
import { connectSupply, fundedSupplier, type Supply, walletsOf } from './app/supply.ts'
import { watchConditions } from './app/telling.ts'
import { catalogSummaryOf, cheapestOf } from './catalog/catalog.ts'
import { invoiceMethod, payoutWatch } from './checkouts/returns.ts'
import type { StartDeps } from './checkouts/start.ts'
import type { Common, Config } from './config.ts'
import { ConfigError } from './environment/environment.ts'
import { createHealth, type Health } from './health/health.ts'
import { closeApp, currentRequest } from './http/app.ts'
import { indexedTransport } from './http/call.ts'
import { StartRefused } from './lib/errors.ts'
import { leastOf } from './lib/money.ts'
import { within } from './lib/scheduling.ts'
import { createLog, liveLog, sandboxLog } from './logging/log.ts'
import { joinNodes } from './nodes/nodes.ts'
import { monitorFloat } from './operations/float-monitor.ts'
import { keepRetention, repeatSweep, runSweeper, watch } from './operations/loops.ts'
import { createCounters } from './operations/metrics.ts'
import { runHealthChecks } from './operations/probes.ts'
import { partChanges, reporterTo } from './operations/reporter.ts'
import { createNotifier } from './orders/advance.ts'
import { budgetRules } from './orders/budgets.ts'
import { type Denylist, denylistOf } from './orders/denylist.ts'
import type { PurchaseDeps } from './orders/purchase.ts'
import { createWebhookSender } from './orders/webhooks/sender.ts'
import type { Sweeper } from './orders/workflow.ts'
import { createQuotes } from './payments/terms.ts'
import type { StoreWallet, WalletRole } from './reconcile/ports.ts'
import { checkStartup, requireNoRefunds } from './reconcile/startup-check.ts'
import {
  createDigest,
  createSigner,
  createVault,
  type OperatorKeys,
  type Vault,
} from './secrets/secrets.ts'
import { supplierRouter } from './suppliers/supplier.ts'

export type Service = Awaited<ReturnType<typeof startService>>

/** The start waits this long for the first look at the wallets. Nothing is sold before it. */
const maxFirstLookMs = 5_000

/** Nothing listens yet when it returns. @throws ConfigError, RecordTooOld */
export async function startService(options: ServiceOptions) {
  const stopping = new AbortController()
  const draining = new AbortController()
  const { config } = options
  const ground = groundOf(options, stopping.signal, draining.signal)
  const { now } = ground
  const chain = connectChain(config, now)
  const supply = connectSupply(config, now)
  const storage = await connectOutside(ground, chain, supply)
  const { guard, membership, admissionLoops, ...admitted } = await admit(ground, chain, storage)
  const catalog = await startCatalog(ground, storage, supply.sources)
  const coins = connectCoins(config, { ...storage, ...ground })
  const parts = { chain, storage, supply, coins, ...admitted }
  const purchases = purchasesOf(ground, { ...parts, catalog })
  const checkouts: StartDeps = {
    ...{ ...purchases, health: ground.health, checkouts: storage.checkouts },
    processor: coins.processor,
    hands: storage.handPayouts,
    reportCheckout: ground.report,
    ...{ marks: createDigest(config.secretsKeys, 'checkouts'), readAddress: coins.readAddress },
  }
  const served = { ...parts, membership, purchases, checkouts }
  const readState = stateReaderOf(ground, served)
  const app = openServer(ground, { ...served, readState })
  const wallets = watchWallets(ground, parts, catalog)
  const probes = { database: storage.probe, chain: chain.probe, suppliers: supply.probes }
  const retention = { ...storage, now, personalDataDays: config.personalDataDays }
  const loops = [
    ...catalog.work,
    ...admissionLoops,
    keepRetention(retention, ground),
    guard.passed.then((isPassed) =>
      isPassed ? runSweeper({ ...checkouts, goodwill: storage.goodwill }, ground) : undefined,
    ),
    repeatSweep('webhooks', senderOf(ground, storage, purchases.vault), ground),
    monitorProcessor(coins, ground),
    runHealthChecks(probes, ground.health, stopping.signal, options.lookEveryMs),
    wallets.work,
    watchConditions(ground, { readState, membership, book: storage.incidents }),
  ]
  await Promise.race([wallets.read, delay(maxFirstLookMs, undefined, { ref: false })])

  return {
    app,
    catalog: () => catalogSummaryOf(catalog.liveCatalog),
    /** Serves on for `drainMs`; then finishes the work under way or leaves it to other nodes, and closes everything. */
    async stop(drainMs = 0) {
      draining.abort()
      await delay(drainMs)
      stopping.abort()
      await closeApp(app)
      await Promise.all(loops)
      await membership.leave()
      await storage.close()
    },
  }
}

function groundOf(options: ServiceOptions, signal: AbortSignal, draining: AbortSignal): Ground {
  const now = () => new Date()
  const counters = createCounters()
  const { log } = options
  return {
    ...options,
    signal,
    draining,
    now,
    health: createHealth(now),
    counters,
    report: reporterTo(log, currentRequest, counters.countEvent),
    failed: (what, error) => log.error({ error, what }, 'background work failed'),
  }
}

/**
 * Checks everything outside at once, so that the operator reads every mistake in one message. A service that does not
 * answer is no mistake, except the database, which a refused start has not changed.
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
  if (database instanceof Error) throw new ConfigError(problems, mayPass(database))
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
  return database.migrateAndClaim().catch((error: Error) => {
    throw new ConfigError([wrongDatabase(error)], mayPass(error))
  })
}

const mayPass = (error: Error) => !(error instanceof StartRefused)
const wrongDatabase = (error: Error) => `DATABASE_URL: ${error.message}`

/** @throws RecordTooOld, and closes the storage */
async function admit(ground: Ground, chain: ConnectedChain, storage: Storage) {
  try {
    const membership = await joinNodes(storage.nodes, { ...ground, version: pack.version })
    await storage.noteSettings(membership.name, notedSettings(ground.config))
    const present = presentOf(ground.config, chain)
    // Before the check: what an earlier wallet sends after its replacement is no reason to refuse the start.
    await storage.wallets.use(present)
    const wallets = await storage.wallets.ours(present)
    const { record: store, movements } = storage
    const sources = { chain: chain.statement(wallets), store, movements }
    const guard = await checkStartup(sources, ground.health, ground)
    const digest = createDigest(ground.config.secretsKeys, 'orders')
    let newest = denylistOf([], digest)
    const denied = {
      read: storage.denied,
      changed: (identities: readonly string[]) => {
        newest = denylistOf(identities, digest)
      },
      everyMs: ground.lookEveryMs ?? denylistEveryMs,
    }
    const { stopped } = await watch('reading the denylist', denied, ground)
    const denylist: Denylist = { has: (identity) => newest.has(identity) }
    const admissionLoops = [membership.loop, stopped]
    return { membership, guard, earlier: earlierOf(wallets), denylist, admissionLoops }
  } catch (error) {
    await storage.close()
    throw error
  }
}

/** A change is in force within five seconds. */
const denylistEveryMs = 2_000

const longestNoted = 200

/** For the audit: a secret or a long text as a digest. */
function notedSettings({ settings, secretsKeys }: Ground['config']): Record<string, string> {
  const digest = createDigest(secretsKeys, 'settings')
  const noted = settings.map(({ name, text, isSecret }) => {
    const isHidden = isSecret || text.length > longestNoted
    return [name, isHidden ? `digest ${digest.of(`${name}=${text}`).slice(0, 16)}` : text]
  })
  return { version: pack.version, ...Object.fromEntries(noted) }
}

function earlierOf(wallets: readonly StoreWallet[]): Parts['earlier'] {
  const of = (role: WalletRole) =>
    wallets.filter((one) => one.role === role && !one.isPresent).map(({ address }) => address)
  return { pay_to: of('pay_to'), refunds: of('refunds') }
}

const tellingOf =
  (health: Health) =>
  ({ kind, error }: Trouble): void =>
    kind === 'unwritable'
      ? health.noteUnwritable(error.message)
      : health.note('database', false, error.message)

type Parts = Omit<ServerParts, 'membership' | 'purchases' | 'checkouts' | 'readState'> & {
  readonly catalog: RunningCatalog
  readonly denylist: Denylist
  /** Addresses that the store used before. */
  readonly earlier: Readonly<Record<WalletRole, readonly string[]>>
}

/** `read`: all wallets were read once. */
function watchWallets(
  ground: Ground,
  { chain, storage, supply }: Pick<Parts, 'chain' | 'storage' | 'supply'>,
  catalog: RunningCatalog,
) {
  const changes = partChanges(ground.health, ground.report)
  const firstRead = Promise.withResolvers<void>()
  const sources = {
    float: chain.refundFloat,
    gas: chain.gas,
    open: storage.openFacts,
    supplierWallets: walletsOf(supply, 'read'),
    cheapest: () => cheapestOf(catalog.liveCatalog.current()),
    maxRefund: leastOf(Object.values(ground.config.refundCaps)),
    maxBorneOut: chain.maxBorneOut,
  }
  const work = monitorFloat(sources, ground.health, {
    ...ground,
    everyMs: ground.lookEveryMs,
    onRead: () => {
      changes()
      firstRead.resolve()
    },
  })
  return { work, read: firstRead.promise }
}

function purchasesOf(
  ground: Ground,
  { chain, storage, supply, coins, catalog, denylist, earlier }: Parts,
): PurchaseDeps {
  const { config, now, signal, health } = ground
  return {
    now,
    orders: storage.orders,
    methods: {
      x402: chain.x402(earlier.refunds),
      btcpay: invoiceMethod({
        processor: coins.processor,
        hands: storage.handPayouts,
        checkouts: storage.checkouts,
        watch: payoutWatch(storage.payoutRecord, ground.report),
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
    codes: createDigest(config.secretsKeys, 'recovery-code'),
    requestId: currentRequest,
    notifier: createNotifier(signal),
    within,
    stopping: signal,
    policy: config.policy,
    report: ground.report,
    liveCatalog: catalog.liveCatalog,
    pricing: catalog.pricing,
    allowsLoopback: receiversOf(ground).allowsLoopback,
    payee: { network: config.network, payTo: config.payTo, earlier: earlier.pay_to },
    quotes: createQuotes(createSigner(config.secretsKeys, 'quote'), now),
    health,
    ...(config.facilitatorUrl === undefined
      ? {}
      : {
          listingOf: (kind) => listingOf({ site: config.site, ...catalog }, indexedTransport, kind),
        }),
  }
}

/** On this machine only in a sandbox that nobody else reaches. */
function receiversOf(ground: Ground): ReceiverNetwork {
  const allowsLoopback = ground.config.mode === 'sandbox' && isOnlyHere(ground.config)
  return { allowsLoopback, ...ground.receivers }
}

function senderOf(ground: Ground, { webhooks }: Storage, vault: Vault): Sweeper {
  const { now, report, counters } = ground
  const post = webhookPost(receiversOf(ground))
  return createWebhookSender({ webhooks, post, vault, now, report, count: counters.countWebhook })
}

/** Starts the store of this configuration. Nothing listens yet. @throws ConfigError, RecordTooOld */
export async function startStore(config: Config, sandbox: Sandbox | undefined) {
  const log = logOf(config)
  const outside = outsideOf(config, sandbox)
  const { counting, close } = await openCounting(outside, outside.secretsKeys, log)
  try {
    const parts = sandbox && { sandbox: routesOf(sandbox) }
    const service = await startService({ config: outside, log, counting, ...parts })
    const stop = async (drainMs: number) => {
      await service.stop(drainMs)
      close?.()
    }
    return { service, stop }
  } catch (error) {
    close?.()
    throw error
  }
}

function logOf(config: Config): Logger {
  const to = config.mode === 'live' ? liveLog() : sandboxLog(config.dataDir)
  const log = createLog(config.logLevel, to, isOutage)
  return config.mode === 'live' && config.isRehearsal ? log.child({ rehearsal: true }) : log
}

function outsideOf(config: Config, sandbox: Sandbox | undefined) {
  if (config.mode === 'live') return config
  if (sandbox === undefined) throw new Error(`No sandbox is running in ${config.dataDir}`)
  return sandboxOutside(config, sandbox)
}

function routesOf({ chain: { rpcUrl, chainId, usdc }, supplier, faucet }: Sandbox) {
  const send = (address: string) => faucet(address as `0x${string}`)
  return { rpcUrl, chainId, usdc, supplierUrl: supplier.url, faucet: send }
}

export async function openCounting(
  { redisUrl: url }: Pick<Common, 'redisUrl'>,
  keys: OperatorKeys,
  log: Logger,
): Promise<Partial<RedisCounting>> {
  if (url === undefined) return {}
  // A store without Redis saves the 7 MB of its client.
  const { openRedisCounting } = await import('./adapters/redis/counting.ts')
  const digest = createDigest(keys, 'rate-limit')
  const changed = (how: 'alone' | 'together', error?: unknown) => {
    if (how === 'together') log.warn('rate limits are counted together again')
    else log.error({ error }, 'rate limits are counted in this process alone')
  }
  return openRedisCounting({ url, digest: digest.of, changed })
}
