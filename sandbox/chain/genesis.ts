import type { Address, Hex } from 'viem'
import { getAddress, maxUint256, parseAbi, parseEther } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { multicall3Code, signatureCheckerCode, usdcCode } from './contracts.ts'
import type { ChainKeys } from './keys.ts'
import type { ChainClient } from './rpc.ts'

/** The address of USDC on Base Sepolia; the sandbox has the same contract at the same address. */
export const USDC: Address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

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

/** 100,000 USDC in atomic units. */
const REFUND_FLOAT = 100_000_000_000n
const ENOUGH_ETHER = parseEther('100')
const MUCH_ETHER = parseEther('10000')

/** Whether this data folder made the chain: only then is the token's minter ours. */
export async function isOurs(client: ChainClient, keys: ChainKeys): Promise<boolean> {
  if ((await client.getCode({ address: USDC })) === undefined) return false
  const account = privateKeyToAddress(keys.minter)
  return client.readContract({
    address: USDC,
    abi: token,
    functionName: 'isMinter',
    args: [account],
  })
}

/**
 * Deploys the contracts on a fresh chain: Circle's USDC, with the name and version of its EIP-712 domain on Base
 * Sepolia ("USDC", "2"), and Multicall3.
 */
export async function deployContracts(client: ChainClient, keys: ChainKeys): Promise<void> {
  const owner = privateKeyToAccount(keys.minter)
  await client.setBalance({ address: owner.address, value: MUCH_ETHER })
  await client.setCode({
    address: MULTICALL3,
    bytecode: await deployedCode(client, await multicall3Code()),
  })
  const hash = await client.sendTransaction({ account: owner, data: await signatureCheckerCode() })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  if (!contractAddress) throw new Error('The signature library was not deployed.')
  await client.setCode({ address: USDC, bytecode: await usdcCode(contractAddress) })
  const roles = [owner.address, owner.address, owner.address, owner.address] as const
  const contract = { address: USDC, abi: token, account: owner } as const
  const hashes = [
    await client.writeContract({
      ...contract,
      functionName: 'initialize',
      args: ['USDC', 'USDC', 'USD', 6, ...roles],
    }),
    await client.writeContract({ ...contract, functionName: 'initializeV2', args: ['USDC'] }),
    await client.writeContract({
      ...contract,
      functionName: 'initializeV2_1',
      args: [owner.address],
    }),
    await client.writeContract({
      ...contract,
      functionName: 'initializeV2_2',
      args: [[], 'USDC'],
    }),
    await client.writeContract({
      ...contract,
      functionName: 'configureMinter',
      args: [owner.address, maxUint256],
    }),
  ]
  for (const hash of hashes) await requireSuccess(client, hash)
}

/** Funds the wallets: ether for gas, and the float that refunds are paid from. */
export async function fundWallets(client: ChainClient, keys: ChainKeys): Promise<void> {
  for (const key of [keys.gas, keys.minter]) {
    const address = privateKeyToAddress(key)
    if ((await client.getBalance({ address })) >= ENOUGH_ETHER) continue
    await client.setBalance({ address, value: MUCH_ETHER })
  }
  const refund = privateKeyToAddress(keys.refund)
  const has = await client.readContract({
    address: USDC,
    abi: token,
    functionName: 'balanceOf',
    args: [refund],
  })
  if (has < REFUND_FLOAT) await mint(client, keys, refund, REFUND_FLOAT - has)
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
