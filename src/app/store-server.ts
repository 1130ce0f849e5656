import type { FastifyInstance } from 'fastify'
import { createSmtpMailer } from '../adapters/mail/smtp.ts'
import type { Storage } from '../adapters/storage/storage.ts'
import type { BuyingDeps } from '../api/deps.ts'
import { operations, storeOperations } from '../api/operations.ts'
import type { MailDeps } from '../api/tracking/mail.ts'
import type { OrderTrackingDeps } from '../api/tracking/order-view.ts'
import type { Common, Outside } from '../config.ts'
import type { Health } from '../health/health.ts'
import { logAccess } from '../http/access-log.ts'
import { createApp } from '../http/app.ts'
import type { AppDeps } from '../http/deps.ts'
import type { PageFor } from '../http/error-edge.ts'
import { type MetricsDeps, routeMetrics } from '../http/metrics.ts'
import { routeOpenApi } from '../http/openapi.ts'
import { routeOperations, routeStoreOperations } from '../http/operations.ts'
import { routePurchases } from '../http/purchases.ts'
import { routeSandbox, type SandboxDeps } from '../http/sandbox.ts'
import {
  type ProcessorWebhookDeps,
  routeProcessorWebhook,
  routeSupplierWebhook,
  type SupplierWebhookDeps,
} from '../http/webhooks.ts'
import { routeMcp } from '../mcp/route.ts'
import { createDigest, createSigner } from '../secrets/tokens.ts'
import type { PayingDeps } from '../web/buying/buy-form.ts'
import { routeWeb } from '../web/routes.ts'
import { textsIn } from '../web/texts/texts.ts'

export interface StoreServerDeps extends AppDeps, Omit<PayingDeps, 'payee'> {
  readonly buying: BuyingDeps
  /** What the pages of orders need besides `buying`. */
  readonly tracking: Pick<OrderTrackingDeps, 'tokenSigner' | 'codes' | 'checkouts' | 'explorer'> & {
    readonly mail?: MailDeps | undefined
  }
  readonly webhook: SupplierWebhookDeps
  readonly processorWebhook: ProcessorWebhookDeps
  readonly health: Pick<Health, 'parts' | 'signals'>
  /** Aborted when the store is told to stop. */
  readonly draining: AbortSignal
  readonly metrics: MetricsDeps
  /** Whether nobody but this machine can reach it. */
  readonly isLocal: boolean
  /** Only in the sandbox. */
  readonly sandbox?: SandboxDeps | undefined
}

/** Every route of the store. */
export function createStoreServer(deps: StoreServerDeps): FastifyInstance {
  const { buying, health } = deps
  const { policy } = buying.purchases
  const fulfillmentDeadlineSeconds = policy.deliverWithinMs / 1_000
  // Set below: the website makes its error pages only once it is routed on the app.
  let pageFor: PageFor | undefined
  const app = createApp({ ...deps, pageFor: (...told) => pageFor?.(...told) })
  logAccess(app)
  routePurchases(app, buying)
  routeOperations(app, buying, deps.limits)
  const { site, draining } = deps
  const { keys } = buying.receipts
  const store = { site, keys, health, fulfillmentDeadlineSeconds, draining, operations }
  routeStoreOperations(app, store, storeOperations, deps.metrics)
  // The first payee is the one that pages and documents name.
  const [payee] = buying.purchases.payees
  routeOpenApi(app, { site: deps.site, asset: payee.network.usdc })
  pageFor = routeWeb(app, {
    ...deps,
    networkName: payee.network.name,
    fulfillmentDeadlineSeconds,
    isSandbox: deps.sandbox !== undefined,
    payee,
    t: textsIn('en'),
    tracking: {
      follow: { ...buying, ...deps.tracking },
      mail: deps.tracking.mail,
      limits: deps.limits,
    },
  })
  routeMcp(app, { reading: deps, buying, limits: deps.limits, isLocal: deps.isLocal })
  routeSupplierWebhook(app, deps.webhook)
  routeProcessorWebhook(app, deps.processorWebhook)
  routeMetrics(app, deps.metrics)
  if (deps.sandbox) routeSandbox(app, deps.sandbox)
  return app
}

/** What the pages of orders need besides what sells: tokens, explorer, and mail where it is configured. */
export function trackingOf(
  { mail, network, secretsKeys: keys }: Common & Outside,
  storage: Storage,
  isSandbox: boolean,
) {
  return {
    tokenSigner: createSigner(keys, 'order-pass'),
    codes: createDigest(keys, 'recovery-code'),
    checkouts: storage.checkouts,
    // No explorer shows the sandbox's chain.
    explorer: isSandbox ? undefined : network.explorer,
    mail: mail && {
      mailer: createSmtpMailer(mail),
      book: storage.mail,
      digest: createDigest(keys, 'order-mail'),
    },
  }
}
