import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { serve } from '@hono/node-server'
import { x402Facilitator } from '@x402/core/facilitator'
import type { Network } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { createWalletClient, http, nonceManager, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { networks } from '../src/payments/networks.ts'
import { serveParent } from '../test/harness/child.ts'
import { type NodeSettings, startNode } from '../test/harness/node.ts'
import { purchasePath } from '../test/stories/requests.ts'

/** What the process does. */
export type Input =
  /** A bare Fastify route that sends bodies of these lengths in turn. */
  | { readonly does: 'bare'; readonly lengths: readonly number[] }
  /** Sends page searches of one address at once, numbered from `from`, each on a connection of its own. */
  | { readonly does: 'flood'; readonly port: number; readonly count: number; readonly from: number }
  /** Sells: as the store, or with the middleware of the x402 packages. */
  | { readonly does: 'store' | 'stock'; readonly settings: NodeSettings }

interface Served {
  readonly url: string
  stop(): Promise<unknown>
}

async function serveBare(lengths: readonly number[]): Promise<Served> {
  const bodies = lengths.map((length) => Buffer.alloc(length, ' '))
  let at = 0
  const app = Fastify()
  app.get('/ai/topups', (_, reply) => {
    at = (at + 1) % bodies.length
    return reply.header('content-type', 'application/json; charset=utf-8').send(bodies[at])
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, stop: () => app.close() }
}

async function searchPage(port: number, at: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  const target = `/search?kind=topup&q=a&min=1&max=${1_000 + at}`
  const headers = 'host: localhost\r\nx-forwarded-for: 192.0.2.1\r\nconnection: close'
  socket.write(`GET ${target} HTTP/1.1\r\n${headers}\r\n\r\n`)
  await once(socket.resume(), 'close')
}

async function flood({ port, count, from }: Input & { does: 'flood' }): Promise<Served> {
  const all = Promise.all(Array.from({ length: count }, (_, at) => searchPage(port, from + at)))
  return { url: '', stop: () => all }
}

async function serveStore(settings: NodeSettings): Promise<Served> {
  const service = await startNode(settings, () => undefined)
  return { url: settings.url, stop: service.stop }
}

/**
 * Sells a constant and records nothing. The package's own facilitator verifies and settles the payments in
 * this process, with a client of viem as its documentation shows; it polls as often as the store does.
 */
async function serveStock({ url, port, rpcUrl, gasKey, payTo }: NodeSettings): Promise<Served> {
  const network = networks['base-sepolia']
  // Without a nonce manager, two simultaneous settlements would get the same nonce.
  const account = privateKeyToAccount(gasKey, { nonceManager })
  const chain = { account, chain: baseSepolia, transport: http(rpcUrl), pollingInterval: 20 }
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
  return { url, stop: async () => server.close() }
}

function start(input: Input): Promise<Served> {
  if (input.does === 'bare') return serveBare(input.lengths)
  if (input.does === 'flood') return flood(input)
  return input.does === 'store' ? serveStore(input.settings) : serveStock(input.settings)
}

await serveParent(async (input: Input) => {
  const { url, stop } = await start(input)
  // Of all threads since the start; milliseconds.
  const look = () => Object.values(process.cpuUsage()).reduce((sum, part) => sum + part) / 1_000
  return { started: url, look, stop }
})
