import {
  concatHex,
  domainSeparator,
  encodeEventTopics,
  encodeFunctionData,
  formatLog,
  type Hex,
  hashStruct,
  isAddressEqual,
  keccak256,
  type Log,
  numberToHex,
  pad,
  parseAbi,
} from 'viem'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { Network } from '../../payments/networks.ts'
import type { X402Payment } from '../../payments/payment.ts'
import type { Chain, ChainNode } from './clients.ts'
import { isOutOfGas, isRevert, isSilence } from './rpc.ts'
import { type Sending, type Sent, sendCall, signerOf, tooDear } from './sending.ts'

export const tokenAbi = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
  'function isBlacklisted(address account) view returns (bool)',
  'function paused() view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

export const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

export const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
export const [usedTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })
export const [cancelledTopic] = encodeEventTopics({
  abi: tokenAbi,
  eventName: 'AuthorizationCanceled',
})

type Topics = readonly (Hex | readonly Hex[] | null)[]

/** A range of blocks, both ends included. The answering node resolves `safe`. */
export interface LogRange {
  readonly from: number
  readonly to: number | 'safe'
}

export async function tokenLogsIn(
  { network, reader }: ChainNode,
  { from, to }: LogRange,
  topics: Topics,
): Promise<Log[]> {
  const filter = {
    address: network.usdc as Hex,
    topics: topics as (Hex | Hex[] | null)[],
    fromBlock: numberToHex(from),
    toBlock: to === 'safe' ? to : numberToHex(to),
  }
  const logs = await reader.request({ method: 'eth_getLogs', params: [filter] })
  return logs.map((log) => formatLog(log))
}

export function topicOf(wallet: string): Hex {
  return pad(wallet.toLowerCase() as Hex, { size: 32 })
}

export function separatorOf({ chainId, usdc: address, usdcDomain }: Network): Hex {
  return domainSeparator({ domain: { ...usdcDomain, chainId, verifyingContract: address as Hex } })
}

export function authorizationHash(
  network: Network,
  transfer: Omit<SignedTransfer, 'signature'>,
): Hex {
  const { from, to, amount: value, validAfter, validBefore, nonce } = transfer
  const data = {
    from: from as Hex,
    to: to as Hex,
    value,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: nonce as Hex,
  }
  const struct = hashStruct({
    data,
    primaryType: 'TransferWithAuthorization',
    types: transferTypes,
  })
  return keccak256(concatHex(['0x1901', separatorOf(network), struct]))
}

export async function floatOf(
  { network, reader }: Pick<ChainNode, 'network' | 'reader'>,
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

export interface SignedTransfer {
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly validAfter: number
  readonly validBefore: number
  readonly nonce: string
  readonly signature: string
}

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

/** A plain payment takes 80 000 to 110 000, a smart wallet up to 60 000 more, a passkey in software 300 000. */
export const maxSettlementGas = 450_000n
const leastSettlementGas = 80_000n
const plainSignatureBytes = 65

/** Deploying a common wallet takes a third of this. The payer chooses the factory's calldata, and so the cost. */
export const maxDeploymentGas = 1_000_000n

/** What a change of state may add between the estimate and the block: writing to a balance that has become zero. */
const gasMargin = 25_000n

export function limitOf(needed: bigint): bigint {
  const withMargin = needed + gasMargin
  return withMargin < maxSettlementGas ? withMargin : maxSettlementGas
}

type Cost = 'bearable' | 'too_much' | 'too_dear' | 'refused'

export async function costOf(chain: Chain, transfer: SignedTransfer): Promise<Cost> {
  return judgeCost(async () => {
    const gas = await gasOf(chain, transfer)
    if (gas > maxSettlementGas) return 'too_much'
    return (await isTooDear(chain, transfer, limitOf(gas))) ? 'too_dear' : 'bearable'
  })
}

export async function costOfDeployment(
  chain: Chain,
  transfer: Pick<SignedTransfer, 'signature'>,
  call: { readonly to: Hex; readonly data: Hex },
): Promise<Cost> {
  return judgeCost(async () => {
    const gas = await chain.reader.estimateGas({ ...call, account: chain.gasAccount.address })
    if (gas > maxDeploymentGas) return 'too_much'
    const most = gas > maxSettlementGas ? gas : maxSettlementGas
    return (await isTooDear(chain, transfer, most)) ? 'too_dear' : 'bearable'
  })
}

async function judgeCost(cost: () => Promise<Cost>): Promise<Cost> {
  try {
    return await cost()
  } catch (error) {
    // The limit of an estimate is above what a settlement or a deployment may cost.
    if (isOutOfGas(error)) return 'too_much'
    if (isRevert(error)) return 'refused'
    throw error
  }
}

export async function sendTransfer(
  chain: Chain,
  transfer: SignedTransfer,
  sending: Sending,
): Promise<Sent> {
  const call = transferCall(chain.network, transfer)
  const needed = await gasOf(chain, transfer)
  const gas = limitOf(needed)
  if (await isTooDear(chain, transfer, gas)) throw new Error(tooDear)
  if (needed > maxSettlementGas) throw new Error(`The transfer would cost ${needed} gas.`)
  return sendCall(chain, { to: call.address, data: encodeFunctionData(call), gas }, sending)
}

export function gasOf(
  { network, reader, gasAccount }: Chain,
  transfer: SignedTransfer,
): Promise<bigint> {
  const call = transferCall(network, transfer)
  return reader.estimateContractGas({ ...call, account: gasAccount.address })
}

const settlementBytes = 450

/** The payer chooses the length of a smart wallet's signature, and with it the data fee. */
export async function isTooDear(
  chain: Chain,
  { signature }: Pick<SignedTransfer, 'signature'>,
  gas: bigint,
): Promise<boolean> {
  const bytes = ((signature as Hex).length - 2) / 2
  return (await feeOf(chain, bytes, gas)) > chain.maxSettlementWei
}

async function feeOf(chain: Chain, signatureBytes: number, gas: bigint): Promise<bigint> {
  const bytes = settlementBytes + signatureBytes
  const [fees, dataFee] = await Promise.all([chain.fees(), chain.dataFee(bytes)])
  return gas * fees.maxFeePerGas + dataFee
}

/** In wei. If the store does not pay this, it refuses every payment. */
export function leastSettlementCost(chain: Chain): Promise<bigint> {
  return feeOf(chain, plainSignatureBytes, limitOf(leastSettlementGas))
}

/** @throws when the node does not say; undefined if it is not plainly good */
export async function gasOfPlain(chain: Chain, payment: X402Payment): Promise<bigint | undefined> {
  if (!isSignedByPayer(chain.network, payment)) return undefined
  try {
    const gas = await gasOf(chain, transferOf(payment))
    return gas > maxSettlementGas ? undefined : gas
  } catch (error) {
    if (isSilence(error)) throw error
    return undefined
  }
}

export function isSignedByPayer(network: Network, payment: X402Payment): boolean {
  const transfer = transferOf(payment)
  const signer = signerOf(authorizationHash(network, transfer), transfer.signature as Hex)
  return signer !== undefined && isAddressEqual(signer, transfer.from as Hex)
}

export function transferOf(payment: X402Payment): SignedTransfer {
  return { ...payment, from: payment.payer, to: payment.payTo }
}
