import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Address, parseAbi } from 'viem'
import { chainClient } from '../sandbox/chain/rpc.ts'
import type { Parts } from './parts.ts'

/*
 * What a run pays refunds with is what an operator has, so that whoever empties it, or has it held back, is found.
 */

/**
 * The daily cap is the one that a store has by itself. A run presses the orders of a day into less than
 * an hour, so its hour may have all of it. Half of the purchases fail by plan, at 0.66 USDC on average:
 * 10,500 are paid back 3,300 USDC, and 12,000, the most of a run, 3,800.
 */
export const refundCaps = {
  REFUND_HOURLY_CAP_USDC: '5000',
  REFUND_DAILY_CAP_USDC: '5000',
} as const

/**
 * The float of docs/operators/treasury.md, 500 USDC. Sixteen buyers have at most 192 purchases open, which come to
 * 150 USDC: the half at which the operator fills it up suffices for those.
 */
export const floatAtomic = 500_000_000n
const lookEveryMs = 2_000

const token = parseAbi(['function balanceOf(address account) view returns (uint256)'])

/** Fills the float up whenever half of it is gone, as an operator does. */
export async function keepFloat(
  { chain, refundWallet, fund }: Pick<Parts, 'chain' | 'refundWallet' | 'fund'>,
  until: AbortSignal,
): Promise<void> {
  const client = chainClient(chain.rpcUrl)
  const wallet = refundWallet as Address
  const look = {
    address: chain.usdc,
    abi: token,
    functionName: 'balanceOf',
    args: [wallet],
  } as const
  while (!until.aborted) {
    // A killed node of the chain is asked again.
    const held = await client.readContract(look).catch(() => floatAtomic)
    if (held * 2n < floatAtomic) await fund(wallet, floatAtomic - held)
    await delay(lookEveryMs, undefined, { signal: until }).catch(() => {})
  }
}

/** What the nodes told their operator of refunds that a cap held back, and of a float that did not suffice. */
export async function boundsMet({
  dataDir,
  nodes,
}: Pick<Parts, 'dataDir' | 'nodes'>): Promise<readonly string[]> {
  const logs = nodes.map((_, at) => readFile(join(dataDir, logNameOf(at)), 'utf8'))
  const lines = (await Promise.all(logs)).flatMap((log) => log.split('\n'))
  return lines.filter(
    (line) => line.includes('"refund_held"') || line.includes('open refunds may need'),
  )
}

export function logNameOf(node: number): string {
  return `node-${node}.log`
}
