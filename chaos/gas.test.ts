import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { startChain } from '../sandbox/chain/chain.ts'
import { type Fault, startProxy } from '../test/harness/proxy.ts'
import { emptyWallet, mintUsdc } from '../test/stories/chain.ts'
import { gasOf } from './gas.ts'

test('a payment that lands while gas is added up is not counted as wasted', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-gas-'))
  const chain = await startChain({ dataDir })
  const rpc = await startProxy(chain.rpcUrl)
  const keys = Array.from({ length: 3 }, generatePrivateKey)
  for (const key of keys) await mintUsdc(chain, privateKeyToAddress(key), 1n)
  const payTo = chain.keys.payTo
  const pay = async () => emptyWallet(chain, keys.pop() ?? '0x', payTo)
  const gasWallets = keys.map((key) => privateKeyToAddress(key).toLowerCase())
  await pay()
  // One payment lands just before the block number is read, and one just before the transfers are.
  const before = new Set(['eth_blockNumber', 'eth_getLogs'])
  rpc.breakCalls(async (call): Promise<Fault> => {
    if (before.delete(call)) await pay()
    return 'none'
  })
  const parts = { chain: { ...chain, rpcUrl: rpc.url }, gasWallets, refundWallet: '0x' }
  const { moving, wastedTransactions } = await gasOf(parts)
  await rpc.close()
  await chain.stop()
  await rm(dataDir, { recursive: true, force: true })
  expect(keys).toEqual([])
  expect(moving).toBeGreaterThan(0n)
  expect(wastedTransactions).toEqual([])
})
