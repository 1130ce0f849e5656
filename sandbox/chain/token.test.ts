import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeEventLog, domainSeparator, encodeFunctionData, multicall3Abi } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Chain } from './chain.ts'
import { startChain } from './chain.ts'
import { chainClient } from './rpc.ts'
import { authorize, balanceOf, submit, token } from './token.fixture.ts'

let dataDir: string
let chain: Chain

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-token-'))
  chain = await startChain({ dataDir })
})

afterAll(async () => {
  await chain.stop()
  await rm(dataDir, { recursive: true })
})

it('is USDC as on Base Sepolia, by its address, chain and signing domain', async () => {
  const client = chainClient(chain.rpcUrl)
  const address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  const read = (functionName: 'name' | 'symbol' | 'version' | 'decimals' | 'DOMAIN_SEPARATOR') =>
    client.readContract({ address, abi: token, functionName })

  expect(chain).toMatchObject({ usdc: address, chainId: 84532 })
  expect(await client.getChainId()).toBe(84532)
  expect(await read('name')).toBe('USDC')
  expect(await read('symbol')).toBe('USDC')
  expect(await read('version')).toBe('2')
  expect(await read('decimals')).toBe(6)
  expect(await read('DOMAIN_SEPARATOR')).toBe(
    domainSeparator({
      domain: { name: 'USDC', version: '2', chainId: 84532, verifyingContract: address },
    }),
  )
})

it('moves USDC by a signature, and says so in two logs next to each other', async () => {
  const key = generatePrivateKey()
  const payer = privateKeyToAddress(key)
  await chain.faucet(payer)
  const before = await balanceOf(chain, chain.keys.payTo)
  const authorization = await authorize(key, chain.keys.payTo, 990_000n)

  const receipt = await submit(chain, authorization)

  expect(await balanceOf(chain, payer)).toBe(999_010_000n)
  expect(await balanceOf(chain, chain.keys.payTo)).toBe(before + 990_000n)
  const logs = receipt.logs.map((log) => decodeEventLog({ abi: token, ...log }))
  expect(logs).toMatchObject([
    { eventName: 'AuthorizationUsed', args: { authorizer: payer, nonce: authorization.nonce } },
    { eventName: 'Transfer', args: { from: payer, to: chain.keys.payTo, value: 990_000n } },
  ])
  const [used, transfer] = receipt.logs
  expect(transfer?.logIndex).toBe((used?.logIndex ?? 0) + 1)
})

it('takes a signature once, and only for what was signed', async () => {
  const key = generatePrivateKey()
  await chain.faucet(privateKeyToAddress(key))
  const authorization = await authorize(key, chain.keys.payTo, 10n)
  await submit(chain, authorization)

  await expect(submit(chain, authorization)).rejects.toThrow('authorization is used or canceled')
  const other = await authorize(key, chain.keys.payTo, 10n)
  await expect(submit(chain, { ...other, value: 11n })).rejects.toThrow('invalid signature')
  await expect(submit(chain, { ...other, validBefore: 1n })).rejects.toThrow('expired')
})

it('tells through Multicall3 why a payment would fail', async () => {
  const client = chainClient(chain.rpcUrl)
  const unpaid = await authorize(generatePrivateKey(), chain.keys.payTo, 10n)
  const { from, to, value, validAfter, validBefore, nonce, signature } = unpaid
  const result = await client.readContract({
    address: '0xcA11bde05977b3631167028862bE2a173976CA11',
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [
      [
        {
          target: chain.usdc,
          allowFailure: true,
          callData: encodeFunctionData({ abi: token, functionName: 'decimals' }),
        },
        {
          target: chain.usdc,
          allowFailure: true,
          callData: encodeFunctionData({
            abi: token,
            functionName: 'transferWithAuthorization',
            args: [from, to, value, validAfter, validBefore, nonce, signature],
          }),
        },
      ],
    ],
  })

  expect(result.map(({ success }) => success)).toEqual([true, false])
  const reason = Buffer.from(result[1]?.returnData.slice(2) ?? '', 'hex').toString('latin1')
  expect(reason).toContain('transfer amount exceeds balance')
})
