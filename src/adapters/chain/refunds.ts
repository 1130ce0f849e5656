import { BaseError, type Hex, InsufficientFundsError, keccak256, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { PayBackFault } from '../../payments/pay-back-faults.ts'
import type { SignedRefund } from '../../payments/payment.ts'
import type { PaidBack, RefundDue } from '../../payments/ports.ts'
import type { OrderId } from '../../primitives/ids.ts'
import type { Chain } from './clients.ts'
import { isSafe, judge } from './proofs.ts'
import { tokenAbi, transferTypes } from './token.ts'
import { sendTransfer } from './transfer.ts'
import { reasonOf } from './verdicts.ts'

/** A refund that is not on the chain by then is signed again, with the same nonce. */
const refundValidSeconds = 24 * 3_600

/** Much shorter than an order's lease. */
const inBlockTimeoutMs = 10_000

/** The wallet that pays refunds: a small float, and nothing but refunds. */
export interface RefundWallet {
  readonly address: string
  sign(due: RefundDue): Promise<SignedRefund>
  payBack(refund: SignedRefund): Promise<PaidBack>
}

export function refundWallet(chain: Chain, refundKey: Hex): RefundWallet {
  const account = privateKeyToAccount(refundKey)
  return {
    address: account.address,

    async sign({ order, to, amount, since }) {
      const head = await chain.reader.getBlock()
      const validBefore = Number(head.timestamp) + refundValidSeconds
      const nonce = refundNonceOf(chain.network.chainId, order)
      const message = {
        from: account.address,
        to: to as Hex,
        value: amount,
        validAfter: 0n,
        validBefore: BigInt(validBefore),
        nonce,
      }
      const signature = await account.signTypedData({
        domain: {
          ...chain.network.usdcDomain,
          chainId: chain.network.chainId,
          verifyingContract: chain.network.usdc as Hex,
        },
        types: transferTypes,
        primaryType: 'TransferWithAuthorization',
        message,
      })
      return {
        rail: 'x402',
        from: account.address,
        to,
        amount,
        nonce,
        validBefore,
        signature,
        sinceBlock: since.block,
      }
    },

    payBack: (refund) => payBack(chain, refund),
  }
}

/**
 * One order has one refund nonce, for ever: the token itself refuses a second refund, whatever
 * happens to our database or to other nodes.
 */
export function refundNonceOf(chainId: number, order: OrderId): Hex {
  return keccak256(toBytes(`refund:v1|${chainId}|${order}`))
}

async function payBack(chain: Chain, refund: SignedRefund): Promise<PaidBack> {
  try {
    const judged = await judge(chain, { ...refund, value: refund.amount })
    if (judged.verdict === 'transferred') {
      const { transaction, block } = judged.found
      if (await isSafe(chain, block)) return { outcome: 'paid', transaction }
      return pending('The refund is in a block that is not safe yet.')
    }
    if (judged.verdict === 'dead') return lapsedOrBlocked(judged.cause)
    return (await obstacle(chain, refund)) ?? (await send(chain, refund))
  } catch (error) {
    return pending(reasonOf(error))
  }
}

function lapsedOrBlocked(cause: 'cancelled' | 'spent_elsewhere' | 'expired'): PaidBack {
  if (cause === 'expired') return { outcome: 'lapsed' }
  const reason =
    'The refund authorization was used for something else, which only the key of the refund wallet can do.'
  return { outcome: 'blocked', code: 'refund_nonce_spent', reason }
}

/** Why the token would refuse the refund, asked before gas is spent. */
async function obstacle(chain: Chain, refund: SignedRefund): Promise<PaidBack | undefined> {
  const token = { address: chain.network.usdc as Hex, abi: tokenAbi } as const
  const { readContract } = chain.reader
  const [paused, payerBlocked, walletBlocked, float] = await Promise.all([
    readContract({ ...token, functionName: 'paused' }),
    readContract({ ...token, functionName: 'isBlacklisted', args: [refund.to as Hex] }),
    readContract({ ...token, functionName: 'isBlacklisted', args: [refund.from as Hex] }),
    readContract({ ...token, functionName: 'balanceOf', args: [refund.from as Hex] }),
  ])
  if (paused) return blocked('token_paused', 'USDC is paused.')
  if (payerBlocked) return blocked('payer_blacklisted', 'USDC has blacklisted the payer.')
  if (walletBlocked) return blocked('wallet_blacklisted', 'USDC has blacklisted the refund wallet.')
  if (float < refund.amount)
    return blocked('no_float', 'The refund wallet does not hold enough USDC.')
  return undefined
}

async function send(chain: Chain, refund: SignedRefund): Promise<PaidBack> {
  try {
    await sendTransfer(chain, { ...refund, validAfter: 0 }, inBlockTimeoutMs)
    return pending('The refund was sent.')
  } catch (error) {
    if (
      error instanceof BaseError &&
      error.walk((cause) => cause instanceof InsufficientFundsError)
    ) {
      return blocked('no_gas', 'The gas wallet does not hold enough ETH.')
    }
    throw error
  }
}

function pending(reason: string): PaidBack {
  return { outcome: 'pending', reason }
}

function blocked(code: PayBackFault, reason: string): PaidBack {
  return { outcome: 'blocked', code, reason }
}
