import type { Hex } from 'viem'
import type { ChainFacts } from '../../payments/ports.ts'
import { usdc } from '../../primitives/money.ts'
import type { Chain } from './clients.ts'
import { tokenAbi } from './token.ts'

/** Reads them all at once. Throws when the node does not answer one of them. */
export async function chainFacts(
  { network, reader, gasAccount }: Chain,
  refundWallet: string,
): Promise<ChainFacts> {
  const token = { address: network.usdc as Hex, abi: tokenAbi } as const
  const [head, safe, float, gasWei] = await Promise.all([
    reader.getBlock(),
    reader.getBlock({ blockTag: 'safe' }),
    reader.readContract({ ...token, functionName: 'balanceOf', args: [refundWallet as Hex] }),
    reader.getBalance({ address: gasAccount.address }),
  ])
  return {
    headAt: timeOf(head),
    safeHeadAt: timeOf(safe),
    refundFloat: usdc(float),
    gasWei,
  }
}

function timeOf({ timestamp }: { readonly timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1_000)
}

/** Seconds from a block's own time to that of this machine's clock. */
export function headAgeOf({ timestamp }: { readonly timestamp: bigint }, now: Date): number {
  return now.getTime() / 1_000 - Number(timestamp)
}
