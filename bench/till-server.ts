import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { x402Facilitator } from '@x402/core/facilitator'
import type { Network } from '@x402/core/types'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { openChain } from '../src/adapters/chain/clients.ts'
import { confirmationTimeoutMs } from '../src/adapters/chain/facilitator.ts'
import { observedSigner } from '../src/adapters/chain/observed-signer.ts'
import { networks } from '../src/payments/networks.ts'
import { purchasePath } from './buyer.ts'
import { type Served, serveParent } from './child.ts'
import { watchOutside } from './outside.ts'
import { benchPrice, openStore, pollMs, type StoreParts } from './shop.ts'

/** What takes the money: the store, or the middleware of the x402 packages as it comes. */
export type TillServer = Omit<StoreParts, 'outside'> &
  ({ readonly kind: 'store'; readonly databaseUrl: string } | { readonly kind: 'stock' })

async function serveStore(input: TillServer & { readonly kind: 'store' }): Promise<Served> {
  const store = await openStore({ ...input, outside: watchOutside([]) }, input.databaseUrl)
  return { told: { port: store.port }, stop: store.service.stop }
}

/**
 * Sells one constant to whoever pays, and keeps no record of it. Its payments are checked and
 * settled in this process by the package's own facilitator, over the connection, the signer and the
 * numbers of transactions that the store has: what is compared is not how the chain is reached.
 */
async function serveStock({ chain: { rpcUrl, keys } }: TillServer): Promise<Served> {
  const network = networks['base-sepolia']
  const chain = openChain({ network, rpcUrl, pollMs, gasKey: keys.gas })
  const observed = { isContract: false, silence: undefined }
  const signer = observedSigner(chain, observed, confirmationTimeoutMs)
  const id = network.id as Network
  const facilitator = new x402Facilitator().register(id, new ExactFacilitator(signer))
  const resources = new x402ResourceServer({
    verify: (...payment) => facilitator.verify(...payment),
    settle: (...payment) => facilitator.settle(...payment),
    getSupported: async () => facilitator.getSupported() as never,
  }).register(id, new ExactServer())
  const price = { amount: benchPrice, asset: network.usdc, extra: { ...network.usdcDomain } }
  const accepts = { scheme: 'exact', network: id, payTo: keys.payTo, price }
  const app = new Hono()
  app.use(paymentMiddleware({ [`POST ${purchasePath}`]: { accepts } }, resources))
  app.post(purchasePath, (context) => context.json({ epin: 'BENCH-CODE' }))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { told: { port }, stop: async () => server.close() }
}

await serveParent<TillServer>((input) =>
  input.kind === 'store' ? serveStore(input) : serveStock(input),
)
