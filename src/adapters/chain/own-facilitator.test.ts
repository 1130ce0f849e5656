import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { usdc } from '../../lib/money.ts'
import { networks } from '../../payments/networks.ts'
import { startNodeBefore } from './chain.fixture.ts'
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

test('a payment that cannot be checked is not called bad, and leaves no question open', async () => {
  const node = await startNodeBefore('')
  onTestFinished(() => node.stop())
  const codesOf: unknown[] = []
  node.tamper((method, [address]) => {
    if (method === 'eth_getCode') codesOf.push(address)
    return { status: 503 }
  })
  const gasKey = `0x${'22'.repeat(32)}` as const
  const options = { rpcUrl: node.url, gasKey, pollMs: 20, maxSettlementWei: 10n ** 16n }
  const chain = openChain({ network, ...options })
  await expect(ownFacilitator(chain, []).verify(tender)).rejects.toThrow(/503/)
  // The package makes two calls in parallel and handles only the first failure. Only the one for the
  // payer's code may go to the node: an unhandled failure ends the process.
  expect(new Set(codesOf)).toEqual(new Set([payer.address]))
})
