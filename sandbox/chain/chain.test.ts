import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, domainSeparator, erc20Abi, type Hex, parseAbi, parseEther } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterEach, expect, it } from 'vitest'
import type { Chain, ChainOptions } from './chain.ts'
import { startChain } from './chain.ts'
import { chainClient } from './rpc.ts'
import { saveState } from './state.ts'

const BUYER = '0x00000000000000000000000000000000000000b1'
const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kiosk402-chain-'))
  cleanups.push(() => rm(path, { recursive: true }))
  return path
}

async function start(options: ChainOptions): Promise<Chain> {
  const chain = await startChain(options)
  cleanups.push(() => chain.stop())
  return chain
}

type Tag = 'latest' | 'safe' | 'finalized'

function balanceOf({ rpcUrl, usdc }: Chain, account: Address, blockTag: Tag = 'latest') {
  const call = { address: usdc, abi: erc20Abi, functionName: 'balanceOf', args: [account] } as const
  return chainClient(rpcUrl).readContract({ ...call, blockTag })
}

it('has USDC as on Base Sepolia, by its address, chain and signing domain', async () => {
  const chain = await start({ dataDir: await folder() })
  const address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  const abi = parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)'])
  const client = chainClient(chain.rpcUrl)
  expect([chain.usdc, chain.chainId, await client.getChainId()]).toEqual([address, 84_532, 84_532])
  const domain = {
    name: 'USDC',
    version: '2',
    chainId: 84_532,
    verifyingContract: address,
  } as const
  const separator = await client.readContract({ address, abi, functionName: 'DOMAIN_SEPARATOR' })
  expect(separator).toBe(domainSeparator({ domain }))
})

it('gives its wallets ether and a float of USDC, under keys of its own', async () => {
  const [dataDir, otherDir] = [await folder(), await folder()]
  const [chain, other] = await Promise.all([start({ dataDir }), start({ dataDir: otherDir })])
  const client = chainClient(chain.rpcUrl)

  const gas = privateKeyToAddress(chain.keys.gas)
  expect(await client.getBalance({ address: gas })).toBe(parseEther('10000'))
  expect(await balanceOf(chain, privateKeyToAddress(chain.keys.refund))).toBe(100_000_000_000n)
  expect(await balanceOf(chain, chain.keys.payTo)).toBe(0n)
  expect(new Set([...Object.values(chain.keys), ...Object.values(other.keys)]).size).toBe(8)
  expect((await stat(join(dataDir, 'chain', 'keys.json'))).mode & 0o777).toBe(0o600)
})

it('lets no page of a browser send it commands over HTTP', async () => {
  const { rpcUrl } = await start({ dataDir: await folder() })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: [] })
  const origin = { origin: 'http://elsewhere.example' }
  const asked = await fetch(rpcUrl, {
    method: 'OPTIONS',
    headers: {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  expect(asked.ok).toBe(false)
  expect(asked.headers.get('access-control-allow-origin')).toBeNull()
  // Browsers send these content types without a preflight (Fetch, "CORS-safelisted request-header").
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const sent = await fetch(rpcUrl, {
      method: 'POST',
      headers: { ...origin, 'content-type': type },
      body,
    })
    expect(await sent.json()).toMatchObject({ error: { message: 'Invalid request' } })
    expect(sent.headers.get('access-control-allow-origin')).toBeNull()
  }
})

it('gives out USDC, to several at once as well', async () => {
  const chain = await start({ dataDir: await folder() })

  const hashes = await Promise.all([
    chain.faucet(BUYER),
    chain.faucet(BUYER, 7n),
    chain.faucet('0x00000000000000000000000000000000000000b2'),
  ])

  expect(new Set(hashes).size).toBe(3)
  expect(await balanceOf(chain, BUYER)).toBe(1_000_000_007n)
  await expect(chain.faucet('0x0000000000000000000000000000000000000000')).rejects.toThrow(
    'mint to the zero address',
  )
  await chain.faucet(BUYER, 1n)
  expect(await balanceOf(chain, BUYER)).toBe(1_000_000_008n)
})

it('keeps balances, receipts, logs, port and keys over a stop and a start', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  const hash = await first.faucet(BUYER)
  await first.stop()

  const second = await start({ dataDir })

  expect(second).toMatchObject({ rpcUrl: first.rpcUrl, keys: first.keys })
  expect(await balanceOf(second, BUYER)).toBe(1_000_000_000n)
  const client = chainClient(second.rpcUrl)
  const receipt = await client.getTransactionReceipt({ hash })
  expect(receipt.logs).toHaveLength(2)
  const logs = await client.getLogs({ address: second.usdc, fromBlock: 0n })
  expect(logs.map((log) => log.transactionHash)).toContain(hash)
  // A restarted node has no past states; the store's proofs must still work.
  for (const blockTag of ['latest', 'safe', 'finalized'] as const) {
    expect(await balanceOf(second, BUYER, blockTag)).toBe(1_000_000_000n)
  }
})

it('goes on from the saved state when the node itself was killed', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  await first.faucet(BUYER)
  await saveState(chainClient(first.rpcUrl), join(dataDir, 'chain'))
  const { process: node } = JSON.parse(
    await readFile(join(dataDir, 'chain', 'process.json'), 'utf8'),
  )
  process.kill(node.pid, 'SIGKILL')

  expect(await balanceOf(await start({ dataDir }), BUYER)).toBe(1_000_000_000n)
})

it('is made anew when its first start was ended in the middle', async () => {
  const dataDir = await folder()
  const first = await start({ dataDir })
  await chainClient(first.rpcUrl).setCode({ address: first.usdc, bytecode: '0x' as Hex })
  await first.stop()

  const second = await start({ dataDir })
  expect(await balanceOf(second, privateKeyToAddress(second.keys.refund))).toBe(100_000_000_000n)
})
