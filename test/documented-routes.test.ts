import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BuyingDeps } from '../src/api/deps.ts'
import { operations } from '../src/api/operations.ts'
import type { MailDeps } from '../src/api/tracking/mail.ts'
import { createStoreServer } from '../src/app/store-server.ts'
import { createHealth } from '../src/health/health.ts'
import { networks } from '../src/payments/networks.ts'
import { createDigest } from '../src/secrets/tokens.ts'
import { testApp } from './fixtures/app.ts'
import { checkoutService } from './fixtures/checkouts.ts'
import { pathOfRoute, undocumented } from './harness/documented.ts'
import { routesIn } from './harness/routes-in.ts'

/** All routes are there, without what a sale needs. */
const nobodyBuys = {
  purchases: {
    policy: { deliverWithinMs: 600_000 },
    payees: [{ network: networks['base-sepolia'] }],
  },
  receipts: { keys: { published: [] } },
} as unknown as BuyingDeps

const { deps } = testApp()
const app = createStoreServer({
  ...deps,
  buying: nobodyBuys,
  tracking: {
    tokenSigner: { sign: () => '', read: () => undefined },
    codes: createDigest([Buffer.alloc(32)], 'x'),
    mail: {} as MailDeps,
  },
  health: createHealth(deps.now),
  draining: new AbortController().signal,
  isLocal: false,
  processorWebhook: {
    hasten: async () => undefined,
    invoiceIn: () => ({ isGenuine: false }),
  },
  webhook: {
    orders: { hasten: async () => undefined },
    notifier: nobodyBuys.purchases.notifier,
    suppliers: [],
  },
  metrics: {
    token: undefined,
    isOpenHere: false,
    answered: () => undefined,
    page: async () => ({ contentType: 'text/plain', body: '' }),
  },
  checkout: checkoutService().checkouts,
  sandbox: { rpcUrl: '', chainId: 0, usdc: '', supplierUrl: '', faucet: async () => '' },
})

beforeAll(() => app.ready())
afterAll(() => app.close())

const described = operations.map(({ method, path }) => `${method} ${path}`).sort()

test('every route is an operation of the document, but for those that are named not to be', () => {
  const routes = routesIn(app.printRoutes({ commonPrefix: false }))
  const known = routes
    .filter(({ route }) => route !== '*' && !undocumented.includes(route))
    .flatMap(({ route, methods }) => methods.map((method) => `${method} ${pathOfRoute(route)}`))
  expect(known.sort()).toEqual(described)
  // What is named not to be there is a route, or the list would hide nothing.
  const all = routes.map(({ route }) => route)
  expect(undocumented.filter((route) => !all.includes(route))).toEqual([])
})
