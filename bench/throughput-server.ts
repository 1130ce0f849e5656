import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
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
import { openChain } from '../src/adapters/chain/clients.ts'
import { confirmationTimeoutMs } from '../src/adapters/chain/facilitator.ts'
import { observedSigner } from '../src/adapters/chain/observed-signer.ts'
import { networks } from '../src/payments/networks.ts'
import { purchasePath } from './buyer.ts'
import { type Served, serveParent } from './child.ts'
import { watchOutside } from './outside.ts'
import { benchPrice, openStore, pollMs, type StoreParts } from './shop.ts'

/**
 * The server that sells: the store, or the unchanged middleware of the x402 packages, which reaches the
 * chain over the store's own connection (`stock`) or as its documentation describes (`documented`).
 */
export type ThroughputServer = Omit<StoreParts, 'outside'> &
  (
    | { readonly kind: 'store'; readonly databaseUrl: string }
    | { readonly kind: 'stock' | 'documented' }
  )

async function serveStore(input: ThroughputServer & { readonly kind: 'store' }): Promise<Served> {
  const store = await openStore({ ...input, outside: watchOutside([]) }, input.databaseUrl)
  return { told: { port: store.port }, stop: store.service.stop }
}

type Signer = ReturnType<typeof toFacilitatorEvmSigner>
type ChainParts = ThroughputServer['chain']

const network = networks['base-sepolia']

/** The store's own signer, with its connection, its fees and its nonces. */
function signerOfStore({ rpcUrl, keys }: ChainParts): Signer {
  const chain = openChain({
    ...{ network, rpcUrl, pollMs, gasKey: keys.gas },
    maxSettlementWei: 10n ** 16n,
  })
  const sending = { withinMs: confirmationTimeoutMs, onWasted: () => {} }
  return observedSigner(chain, { isContract: false, silence: undefined }, sending)
}

/** A viem client as in the package's documentation. It polls as often as the store. */
function documentedSigner({ rpcUrl, keys }: ChainParts): Signer {
  // Without a nonce manager, two simultaneous settlements would get the same nonce.
  const account = privateKeyToAccount(keys.gas, { nonceManager })
  const client = createWalletClient({
    account,
    chain: baseSepolia,
    transport: http(rpcUrl),
    pollingInterval: pollMs,
  }).extend(publicActions)
  return toFacilitatorEvmSigner({ ...client, address: account.address } as never)
}

/**
 * Sells a constant, and records nothing. The package's own facilitator verifies and settles the payments
 * in this process.
 */
async function serveStock({ keys }: ChainParts, signer: Signer): Promise<Served> {
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

await serveParent<ThroughputServer>((input) => {
  if (input.kind === 'store') return serveStore(input)
  const signerOf = input.kind === 'stock' ? signerOfStore : documentedSigner
  return serveStock(input.chain, signerOf(input.chain))
})
