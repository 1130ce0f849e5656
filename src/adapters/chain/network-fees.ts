import { type Hex, parseAbi } from 'viem'
import type { Chain, ChainNode } from './clients.ts'
import { isRevert } from './faults.ts'
import { recent } from './recent.ts'
import type { SignedTransfer } from './transfer.ts'

/** The GasPriceOracle of OP Stack chains, which gives the L1 data fee of a transaction. */
const gasPriceOracle = '0x420000000000000000000000000000000000000F'
const oracleAbi = parseAbi([
  'function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)',
])

/** L1 makes a block every twelve seconds, and its prices move by blocks. */
const dataFeeKeptMs = 10_000
/** Sizes are rounded up to a multiple of this many bytes, so that similar payments share one call. */
const sizeStep = 512
/** The size of a settlement transaction without the signature. */
const settlementBytes = 450

/** The L1 data fee of a transaction of this size, in wei; 0 on a chain without the oracle. */
export type DataFee = (bytes: number) => Promise<bigint>

export function dataFeeOf({ reader }: Pick<ChainNode, 'reader'>): DataFee {
  const kept = new Map<number, () => Promise<bigint>>()
  const ask = async (size: number) => {
    try {
      return await reader.readContract({
        address: gasPriceOracle,
        abi: oracleAbi,
        functionName: 'getL1FeeUpperBound',
        args: [BigInt(size)],
      })
    } catch (error) {
      if (isRevert(error)) return 0n
      throw error
    }
  }
  return (bytes) => {
    const size = Math.ceil(bytes / sizeStep) * sizeStep
    const known = kept.get(size) ?? recent(dataFeeKeptMs, () => ask(size))
    kept.set(size, known)
    return known()
  }
}

/**
 * Whether a settlement would cost more than the store pays for one, at the present network fees. The
 * payer chooses how long a smart wallet's signature is, and with it the data fee.
 *
 * @param gas the gas limit that it is sent with
 * @throws when the node does not tell the fees
 */
export async function isTooDear(
  chain: Chain,
  { signature }: Pick<SignedTransfer, 'signature'>,
  gas: bigint,
): Promise<boolean> {
  const bytes = settlementBytes + ((signature as Hex).length - 2) / 2
  const [fees, dataFee] = await Promise.all([chain.fees(), chain.dataFee(bytes)])
  return gas * fees.maxFeePerGas + dataFee > chain.maxSettlementWei
}
