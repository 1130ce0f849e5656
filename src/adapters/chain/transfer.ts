import { encodeFunctionData, type Hex } from 'viem'
import type { Network } from '../../payments/networks.ts'
import type { Chain } from './clients.ts'
import { isOutOfGas, isRevert } from './faults.ts'
import { isTooDear } from './network-fees.ts'
import { type Sending, type Sent, sendCall, tooDear } from './sending.ts'
import { tokenAbi } from './token.ts'

/** A signed EIP-3009 authorization: a payment by a buyer, or a refund by us. */
export interface SignedTransfer {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly validAfter: number
  readonly validBefore: number
  readonly nonce: string
  readonly signature: string
}

/** The call by which the token executes it; anyone may send it. */
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

/**
 * What one settlement may cost us, in gas. A plain USDC payment takes 80 000 to 110 000. A smart wallet
 * adds its signature check: 10 000 to 60 000 for the common ones, 300 000 for a passkey that is checked
 * without the precompiled contract. A wallet can also burn millions there: the payer chooses that, and
 * we would pay.
 */
export const maxSettlementGas = 450_000n

/** Deploying a common wallet takes a third of this. The payer chooses the factory's calldata, and so the cost. */
export const maxDeploymentGas = 1_000_000n

/** What a change of state may add between the estimate and the block: writing to a balance that has become zero. */
const gasMargin = 25_000n

/** The gas limit of a transfer that needs this much; its cost is judged at this limit. */
export function limitOf(needed: bigint): bigint {
  const withMargin = needed + gasMargin
  return withMargin < maxSettlementGas ? withMargin : maxSettlementGas
}

export type Cost = 'bearable' | 'too_much' | 'too_dear' | 'refused'

/** Whether a settlement of this transfer stays within what one may cost; `refused` is a revert. */
export async function costOf(chain: Chain, transfer: SignedTransfer): Promise<Cost> {
  return judged(async () => {
    const gas = await gasOf(chain, transfer)
    if (gas > maxSettlementGas) return 'too_much'
    return (await isTooDear(chain, transfer, limitOf(gas))) ? 'too_dear' : 'bearable'
  })
}

/**
 * The same for a transfer whose wallet must be deployed first, by this call. What the transfer itself takes
 * is not known before, so the fee is judged at the most that it may.
 */
export async function costOfDeployment(
  chain: Chain,
  transfer: Pick<SignedTransfer, 'signature'>,
  call: { readonly to: Hex; readonly data: Hex },
): Promise<Cost> {
  return judged(async () => {
    const gas = await chain.reader.estimateGas({ ...call, account: chain.gasAccount.address })
    if (gas > maxDeploymentGas) return 'too_much'
    const most = gas > maxSettlementGas ? gas : maxSettlementGas
    return (await isTooDear(chain, transfer, most)) ? 'too_dear' : 'bearable'
  })
}

async function judged(cost: () => Promise<Cost>): Promise<Cost> {
  try {
    return await cost()
  } catch (error) {
    // The limit of an estimate is above what a settlement or a deployment may cost.
    if (isOutOfGas(error)) return 'too_much'
    if (isRevert(error)) return 'refused'
    throw error
  }
}

/**
 * Sends it with our gas and waits until it is in a block ({@link sendCall}).
 *
 * @param estimated the result of {@link gasOf}, if that was asked a moment ago
 * @throws when the token refuses it, when it would cost too much, or when the node does not accept it
 */
export async function sendTransfer(
  chain: Chain,
  transfer: SignedTransfer,
  sending: Sending,
  estimated?: bigint,
): Promise<Sent> {
  const call = transferCall(chain.network, transfer)
  const needed = estimated ?? (await gasOf(chain, transfer))
  const gas = limitOf(needed)
  if (await isTooDear(chain, transfer, gas)) throw new Error(tooDear)
  if (needed > maxSettlementGas) throw new Error(`The transfer would cost ${needed} gas.`)
  return sendCall(chain, { to: call.address, data: encodeFunctionData(call), gas }, sending)
}

/**
 * Estimates the gas of the transfer, which costs nothing.
 *
 * @throws when the token refuses it ({@link isRevert}), or when the node does not say
 */
export function gasOf(
  { network, reader, gasAccount }: Chain,
  transfer: SignedTransfer,
): Promise<bigint> {
  const call = transferCall(network, transfer)
  return reader.estimateContractGas({ ...call, account: gasAccount.address })
}
