import { mkdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Address, type Hex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chainClient } from '../../sandbox/chain/rpc.ts'

/** A chain that stories run on, and the key of its token's owner. */
export interface ChainParts {
  readonly rpcUrl: string
  readonly usdc: string
  readonly keys: { readonly minter: string }
}

export const usdcAbi = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function balanceOf(address account) view returns (uint256)',
  'function mint(address to, uint256 amount) returns (bool)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
  'function pause()',
  'function unpause()',
  'function transfer(address to, uint256 value) returns (bool)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

/** Mints USDC, in atomic units, and returns once it is in a block. */
export function mintUsdc(parts: ChainParts, to: Address, amount: bigint): Promise<void> {
  return asOwner(parts, 'mint', [to, amount])
}

/** Makes the token refuse every transfer from and to this wallet, or ends that. */
export function blacklist(parts: ChainParts, wallet: Address): Promise<void> {
  return asOwner(parts, 'blacklist', [wallet])
}

export function unBlacklist(parts: ChainParts, wallet: Address): Promise<void> {
  return asOwner(parts, 'unBlacklist', [wallet])
}

/** Makes the token refuse every transfer. Only for a chain that a story has for itself. */
export function pause(parts: ChainParts): Promise<void> {
  return asOwner(parts, 'pause', [])
}

export function unpause(parts: ChainParts): Promise<void> {
  return asOwner(parts, 'unpause', [])
}

/** Moves all USDC of a wallet to another one. */
export async function emptyWallet(parts: ChainParts, key: Hex, to: Address): Promise<void> {
  const { account, client } = await anybody(parts, key)
  const amount = await balanceOf(parts, account.address)
  const hash = await client.writeContract({
    address: parts.usdc as Hex,
    abi: usdcAbi,
    account,
    functionName: 'transfer',
    args: [to, amount],
  })
  await client.waitForTransactionReceipt({ hash })
}

export function balanceOf({ rpcUrl, usdc }: ChainParts, wallet: Address): Promise<bigint> {
  return chainClient(rpcUrl).readContract({
    address: usdc as Hex,
    abi: usdcAbi,
    functionName: 'balanceOf',
    args: [wallet],
  })
}

/** Every transfer of USDC from one wallet to another, as the token's logs tell it. */
export async function transfersBetween(parts: ChainParts, from: Address, to: Address) {
  const logs = await chainClient(parts.rpcUrl).getContractEvents({
    address: parts.usdc as Hex,
    abi: usdcAbi,
    eventName: 'Transfer',
    args: { from, to },
    fromBlock: 0n,
    strict: true,
  })
  return logs.map(({ transactionHash, args }) => ({ transactionHash, value: args.value }))
}

/** How many transactions this wallet has sent. */
export function transactionsOf({ rpcUrl }: ChainParts, address: Address): Promise<number> {
  return chainClient(rpcUrl).getTransactionCount({ address })
}

/** A wallet with ether and nothing else, to send what anybody could send. */
export async function anybody({ rpcUrl }: ChainParts, key: Hex) {
  const account = privateKeyToAccount(key)
  const client = chainClient(rpcUrl)
  await client.setBalance({ address: account.address, value: 10n ** 20n })
  return { key, account, client }
}

type Owned = 'mint' | 'blacklist' | 'unBlacklist' | 'pause' | 'unpause'

/**
 * Story files run side by side, in processes of their own, and share the token's owner. Two at once
 * would take the same account nonce and overwrite each other's calls, so they take turns.
 */
async function asOwner(
  { rpcUrl, usdc, keys }: ChainParts,
  functionName: Owned,
  args: readonly unknown[],
): Promise<void> {
  const client = chainClient(rpcUrl)
  const account = privateKeyToAccount(keys.minter as Hex)
  const call = { address: usdc as Hex, abi: usdcAbi, account, functionName, args: args as never }
  await inTurn(`kiosk402-owner-${new URL(rpcUrl).port}`, async () => {
    const hash = await client.writeContract(call)
    const { status } = await client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`${functionName} was reverted`)
  })
}

/** Runs the work while no other process does the same under this name. A folder is the token. */
async function inTurn(name: string, work: () => Promise<void>): Promise<void> {
  const token = join(tmpdir(), name)
  while (!isMade(token)) await delay(3)
  try {
    await work()
  } finally {
    rmdirSync(token)
  }
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
