import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { x402Facilitator } from '@x402/core/facilitator'
import type { Network } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import { createWalletClient, http, nonceManager, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { networks } from '../src/payments/networks.ts'
import { type NodeSettings, startNode } from '../test/harness/node.ts'
import { purchasePath } from '../test/stories/requests.ts'
import { type Served, serveParent } from './child.ts'

/** A server that sells in a process of its own: the store, or the middleware of the x402 packages. */
export interface Seller {
  readonly kind: 'store' | 'stock'
  readonly settings: NodeSettings
}

/** The interval at which the store of the bench looks for a transaction; the middleware gets the same. */
const pollMs = 20
const network = networks['base-sepolia']

async function serveStore(settings: NodeSettings): Promise<Served> {
  const service = await startNode(settings, () => undefined)
  return { told: { url: settings.url }, stop: service.stop }
}

/**
 * Sells a constant and records nothing. The package's own facilitator verifies and settles the payments in
 * this process, with a client of viem as its documentation shows.
 */
async function serveStock({ url, port, rpcUrl, gasKey, payTo }: NodeSettings): Promise<Served> {
  // Without a nonce manager, two simultaneous settlements would get the same nonce.
  const account = privateKeyToAccount(gasKey, { nonceManager })
  const transport = http(rpcUrl)
  const chain = { account, chain: baseSepolia, transport, pollingInterval: pollMs }
  const client = createWalletClient(chain).extend(publicActions)
  const signer = toFacilitatorEvmSigner({ ...client, address: account.address } as never)
  const id = network.id as Network
  const facilitator = new x402Facilitator().register(id, new ExactFacilitator(signer))
  const resources = new x402ResourceServer({
    verify: (...payment) => facilitator.verify(...payment),
    settle: (...payment) => facilitator.settle(...payment),
    getSupported: async () => facilitator.getSupported() as never,
  }).register(id, new ExactServer())
  const price = { amount: '1000000', asset: network.usdc, extra: { ...network.usdcDomain } }
  const accepts = { scheme: 'exact', network: id, payTo, price }
  const path = purchasePath('voucher')
  const app = new Hono()
  app.use(paymentMiddleware({ [`POST ${path}`]: { accepts } }, resources))
  app.post(path, (context) => context.json({ epin: 'BENCH-CODE' }))
  const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
  await once(server, 'listening')
  return { told: { url }, stop: async () => server.close() }
}

await serveParent<Seller>(({ kind, settings }) =>
  kind === 'store' ? serveStore(settings) : serveStock(settings),
)
