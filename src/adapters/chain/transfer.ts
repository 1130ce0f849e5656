import type { Hex } from 'viem'
import type { Network } from '../../payments/networks.ts'
import type { Chain } from './clients.ts'
import { tokenAbi } from './token.ts'

/** A signed EIP-3009 authorization, whoever signed it: a buyer who pays, or we who pay back. */
export interface SignedTransfer {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly validAfter: number
  readonly validBefore: number
  readonly nonce: string
  readonly signature: string
}

/** The call that makes the token carry it out; anyone may send it. */
export function transferCall(network: Network, transfer: SignedTransfer) {
  return {
    address: network.usdc as Hex,
    abi: tokenAbi,
    functionName: 'transferWithAuthorization',
    args: [
      transfer.from as Hex,
      transfer.to as Hex,
      transfer.amount,
      BigInt(transfer.validAfter),
      BigInt(transfer.validBefore),
      transfer.nonce as Hex,
      transfer.signature as Hex,
    ],
  } as const
}

export interface Sent {
  readonly hash: Hex
  /** In a block, where it moved nothing and cost gas. */
  readonly isReverted: boolean
}

/**
 * Sends it with our gas and waits until it is in a block, so that nobody sends it again while it is
 * on its way there. Not being in a block by then is no failure: the caller looks at the logs. But it
 * may have been dropped, so the next account nonce is asked of the chain: one counted on from this
 * one would leave a gap, which no transaction of ours could get past.
 */
export async function sendTransfer(
  { network, reader, sender }: Chain,
  transfer: SignedTransfer,
  withinMs: number,
): Promise<Sent> {
  const hash = await sender.writeContract(transferCall(network, transfer))
  const wait = reader.waitForTransactionReceipt({ hash, timeout: withinMs })
  const receipt = await wait.catch(() => undefined)
  if (receipt === undefined && sender.account.type === 'local') {
    const { address, nonceManager } = sender.account
    nonceManager?.reset({ address, chainId: network.chainId })
  }
  return { hash, isReverted: receipt?.status === 'reverted' }
}
