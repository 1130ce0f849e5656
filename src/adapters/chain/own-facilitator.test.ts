import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, expect, test } from 'vitest'
import { usdc } from '../../lib/money.ts'
import { networks } from '../../payments/networks.ts'
import { openChain } from './clients.ts'
import { ownFacilitator } from './own-facilitator.ts'

const network = networks['base-sepolia']
const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const tender = {
  rail: 'x402',
  network: network.id,
  asset: network.usdc,
  payer: payer.address,
  payTo: `0x${'2'.repeat(40)}`,
  amount: usdc('500000'),
  nonce: `0x${'3'.repeat(64)}`,
  validAfter: 0,
  validBefore: Math.floor(Date.now() / 1_000) + 300,
  signature: `0x${'4'.repeat(130)}`,
  sinceBlock: 0,
} as const

/** A gateway whose node is down: it answers 503. */
async function startGateway() {
  const asked: { method: string; params: unknown[] }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    asked.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(503).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked, close: () => server.close() }
}

let gateway: Awaited<ReturnType<typeof startGateway>>
afterEach(() => gateway.close())

test('a payment that cannot be checked is not called bad, and leaves no question open', async () => {
  gateway = await startGateway()
  const gasKey = `0x${'22'.repeat(32)}` as const
  const chain = openChain({
    network,
    rpcUrl: gateway.url,
    gasKey,
    pollMs: 20,
    maxSettlementWei: 10n ** 16n,
  })
  await expect(ownFacilitator(chain, []).verify(tender)).rejects.toThrow(/503/)
  // The package makes two calls in parallel and handles only the first failure. Only the one for the
  // payer's code may go to the node: an unhandled failure ends the process.
  const codesAsked = gateway.asked.filter(({ method }) => method === 'eth_getCode')
  expect(new Set(codesAsked.map(({ params: [address] }) => address))).toEqual(
    new Set([payer.address]),
  )
})
