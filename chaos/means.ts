import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Address, parseAbi } from 'viem'
import { chainClient } from '../sandbox/chain/rpc.ts'
import type { Parts } from './parts.ts'

/*
 * A run has the float and the caps of a real operator, so that the audit finds an attacker who exhausts them.
 */

/**
 * The daily cap is the default of a store. A run has the orders of a day in less than an hour, so the hourly
 * cap is as high. Half of the purchases fail by plan, at 0.66 USDC on average: the refunds of 10,500 come to
 * 3,300 USDC, and those of 12,000, the most of a run, to 3,800.
 */
export const refundCaps = {
  REFUND_HOURLY_CAP_USDC: '5000',
  REFUND_DAILY_CAP_USDC: '5000',
} as const

/**
 * The float of docs/operators/treasury.md, 500 USDC. 16 buyers have at most 192 open purchases, worth about
 * 150 USDC: the half of the float at which it is topped up suffices for those.
 */
export const floatAtomic = 500_000_000n
const lookEveryMs = 2_000

const token = parseAbi(['function balanceOf(address account) view returns (uint256)'])

/** Tops up the float whenever half of it is gone, as an operator does. */
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
    // If the chain's node is down, the next look asks it again.
    const held = await client.readContract(look).catch(() => floatAtomic)
    if (held * 2n < floatAtomic) await fund(wallet, floatAtomic - held)
    await delay(lookEveryMs, undefined, { signal: until }).catch(() => {})
  }
}

/** Log lines of the nodes about refunds that a cap held back, and about a float that was too small. */
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
