import type { Hex } from 'viem'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { ChainFacts } from '../../payments/ports.ts'
import type { Chain } from './clients.ts'
import { tokenAbi } from './token.ts'

/** Reads them all at once. Throws when the node does not answer one of them. */
export async function chainFacts(
  { network, reader, gasAccount }: Chain,
  refundWallet: string,
): Promise<ChainFacts> {
  const [head, safe, refundFloat, gasWei] = await Promise.all([
    reader.getBlock(),
    reader.getBlock({ blockTag: 'safe' }),
    floatOf({ network, reader }, refundWallet),
    reader.getBalance({ address: gasAccount.address }),
  ])
  return { headAt: timeOf(head), safeHeadAt: timeOf(safe), refundFloat, gasWei }
}

/** The USDC in the refund wallet. Throws when the node does not answer. */
export async function floatOf(
  { network, reader }: Pick<Chain, 'network' | 'reader'>,
  refundWallet: string,
): Promise<Usdc> {
  const float = await reader.readContract({
    address: network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [refundWallet as Hex],
  })
  return usdc(float)
}

/** The gas of a plain transfer with its margin, rounded up for one resend at a higher fee. */
const gasOfTransfer = 150_000n

/** The balance of the gas wallet and the present cost of a transfer, in wei. Throws when the node does not answer. */
export async function gasFacts({
  reader,
  gasAccount,
  fees,
}: Pick<Chain, 'reader' | 'gasAccount' | 'fees'>) {
  const [balance, { maxFeePerGas }] = await Promise.all([
    reader.getBalance({ address: gasAccount.address }),
    fees(),
  ])
  return { balance, perTransfer: gasOfTransfer * maxFeePerGas }
}

function timeOf({ timestamp }: { readonly timestamp: bigint }): Date {
  return new Date(Number(timestamp) * 1_000)
}

/** The age of a block in seconds, by this machine's clock. */
export function headAgeOf({ timestamp }: { readonly timestamp: bigint }, now: Date): number {
  return now.getTime() / 1_000 - Number(timestamp)
}
