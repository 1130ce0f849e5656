import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { ConnectedChain } from '../adapters/chain/connect.ts'
import { createSmtpMailer } from '../adapters/mail/smtp.ts'
import type { Storage } from '../adapters/storage/storage.ts'
import type { ReceiverNetwork } from '../adapters/webhooks/post.ts'
import { createIssuer } from '../api/buying/payment-required.ts'
import type { BuyingDeps } from '../api/operation.ts'
import { operations, storeOperations } from '../api/operations.ts'
import type { StartDeps } from '../checkouts/start.ts'
import type { Common, Outside } from '../config.ts'
import type { Health } from '../health/health.ts'
import { createApp, logAccess, routeMetrics } from '../http/app.ts'
import { routeOpenApi } from '../http/caching.ts'
import type { PageFor } from '../http/error-edge.ts'
import { type CounterFactory, createLimits } from '../http/gate.ts'
import { isOwnName } from '../http/operator.ts'
import {
  routeOperations,
  routePayableUrls,
  routeProcessorWebhook,
  routePurchases,
  routeSandbox,
  routeStoreOperations,
  routeSupplierWebhook,
  type SandboxDeps,
} from '../http/routes.ts'
import type { LoopDeps } from '../lib/scheduling.ts'
import { routeMcp } from '../mcp/server.ts'
import type { Membership } from '../nodes/nodes.ts'
import { type Counters, createMetrics, createStateReader } from '../operations/metrics.ts'
import type { OperatorEvent } from '../operations/reporter.ts'
import type { StoreState } from '../operations/store-state.ts'
import type { PurchaseDeps } from '../orders/purchase.ts'
import {
  createDigest,
  createEnvelope,
  createSigner,
  createSigningKeys,
} from '../secrets/secrets.ts'
import { routeWeb } from '../web/routes.ts'
import { textsIn } from '../web/texts/texts.ts'
import { type CoinPayments, checkoutPagesOf } from './coin-payments.ts'
import { type Supply, walletsOf } from './supply.ts'

export interface ServiceOptions {
  readonly config: Common & Outside & { readonly mode: 'sandbox' | 'live' }
  readonly log: Logger
  /** Only in the sandbox. */
  readonly sandbox?: SandboxDeps
  /** Default: in this process alone. */
  readonly counting?: CounterFactory | undefined
  /** How buyers' webhooks are reached, if not over the internet. */
  readonly receivers?: Partial<ReceiverNetwork> | undefined
  /** How often wallets and parts are checked, if not every 5 and 10 s. */
  readonly lookEveryMs?: number | undefined
}

export interface Ground extends ServiceOptions, LoopDeps {
  readonly now: () => Date
  readonly health: Health
  readonly counters: Counters
  /** Aborted before `signal`, so that load balancers notice in time. */
  readonly draining: AbortSignal
  readonly report: (event: OperatorEvent) => void
}

export interface ServerParts {
  readonly chain: ConnectedChain
  readonly storage: Storage
  readonly supply: Supply
  readonly coins: CoinPayments
  readonly membership: Membership
  readonly purchases: PurchaseDeps
  readonly checkouts: StartDeps
  readonly readState: () => Promise<StoreState>
}

export function openServer(ground: Ground, parts: ServerParts): FastifyInstance {
  const { config, log, sandbox, health } = ground
  const { site } = config
  const { storage, supply, coins, purchases, checkouts } = parts
  const { payee } = purchases
  const limits = createLimits(ground.counting)
  const buying = buyingOf(ground, parts)
  const { liveCatalog, pricing } = purchases
  const { takesCoins } = health
  const reading = { site, liveCatalog, pricing, network: payee.network, takesCoins }
  const access = { token: config.metricsToken, isOpenHere: sandbox !== undefined }
  // Set below: the website makes its error pages only once it is routed on the app.
  let pageFor: PageFor | undefined
  const app = createApp({
    ...reading,
    log,
    limits,
    trustProxy: config.trustProxy,
    pageFor: (...error) => pageFor?.(...error),
  })
  logAccess(app)
  routePurchases(app, buying)
  routePayableUrls(app, buying)
  routeOperations(app, buying, limits)
  const { fulfillmentDeadlineSeconds } = buying.demands
  const published = { site, keys: buying.receipts.keys, fulfillmentDeadlineSeconds, operations }
  const { draining } = ground
  routeStoreOperations(app, { ...published, health, draining }, storeOperations, access)
  routeOpenApi(app, { site, asset: payee.network.usdc })
  const { mail, ...follow } = trackingOf(ground, storage)
  pageFor = routeWeb(app, {
    ...reading,
    ...checkoutPagesOf(config, coins, { ...checkouts, tokenSigner: follow.tokenSigner }),
    buying,
    limits,
    networkName: payee.network.name,
    fulfillmentDeadlineSeconds,
    isSandbox: sandbox !== undefined,
    payee,
    t: textsIn('en'),
    tracking: { follow: { ...buying, ...follow }, mail, limits },
  })
  routeMcp(app, { reading, buying, limits, isLocal: isOnlyHere(config) })
  const { orders } = storage
  const suppliers = [...supply.connected.values()]
  routeSupplierWebhook(app, { orders, notifier: purchases.notifier, suppliers })
  const { hasten } = storage.checkouts
  routeProcessorWebhook(app, { hasten, invoiceIn: coins.invoiceIn })
  routeMetrics(app, {
    ...access,
    answered: ground.counters.countRequest,
    page: createMetrics(parts.readState, () => ground.counters.registry.metrics()),
  })
  if (sandbox) routeSandbox(app, sandbox)
  return app
}

/** Whether only this machine can reach the store. */
export function isOnlyHere({ host, site }: Pick<Common, 'host' | 'site'>): boolean {
  return [host, new URL(site.url).host].every(isOwnName)
}

export function stateReaderOf(
  ground: Ground,
  { chain, storage, supply, purchases, membership }: Omit<ServerParts, 'readState'>,
) {
  return createStateReader({
    ...storage,
    ...purchases,
    ...ground,
    cacheMs: ground.lookEveryMs,
    webhookEvents: storage.webhooks.countPending,
    chain: chain.facts,
    supplierWallets: walletsOf(supply, 'last'),
    nodes: membership.lastState,
  })
}

function trackingOf({ config, sandbox }: Ground, storage: Storage) {
  const { mail, network, secretsKeys: keys } = config
  return {
    tokenSigner: createSigner(keys, 'order-pass'),
    codes: createDigest(keys, 'recovery-code'),
    checkouts: storage.checkouts,
    // No explorer shows the sandbox's chain.
    explorer: sandbox ? undefined : network.explorer,
    mail: mail && {
      mailer: createSmtpMailer(mail),
      book: storage.mail,
      digest: createDigest(keys, 'order-mail'),
    },
  }
}

function buyingOf(
  { config, now, health }: Ground,
  { chain, storage, purchases }: ServerParts,
): BuyingDeps {
  const { site, secretsKeys } = config
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
      noteShown: storage.noteShown,
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
    envelope: createEnvelope(secretsKeys, 'payable-url'),
  }
}
