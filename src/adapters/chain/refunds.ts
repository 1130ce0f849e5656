import { BaseError, type Hex, InsufficientFundsError, keccak256, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { never } from '../../lib/errors.ts'
import type {
  PaidBack,
  PayBackFault,
  RefundDue,
  X402Payment,
  X402Receipt,
  X402Refund,
} from '../../payments/payment.ts'
import type { Chain } from './clients.ts'
import { type Evidence, isUsedAt, type Verdict } from './proofs.ts'
import { authorizationHash, sendTransfer, tokenAbi } from './token.ts'
import { reasonOf } from './verdicts.ts'

/** Then it is signed again with the same nonce; after a change of the refund wallet, by the new one. */
const refundValidSeconds = 3_600

const inBlockTimeoutMs = 10_000

export type RefundWallet = ReturnType<typeof refundWallet>

export function refundWallet(
  chain: Chain,
  evidence: Evidence,
  refundKey: Hex,
  earlier: readonly string[],
) {
  const account = privateKeyToAccount(refundKey)
  return {
    address: account.address as string,

    async sign(due: RefundDue<X402Payment, X402Receipt>): Promise<X402Refund> {
      const { reference, since } = due
      const { payer: to, amount } = due.payment
      const { network, reader } = chain
      const validBefore = Number((await reader.getBlock()).timestamp) + refundValidSeconds
      const nonce = refundNonceOf(network.chainId, reference)
      const transfer = { from: account.address, to, amount, nonce, validBefore }
      const hash = authorizationHash(network, { ...transfer, validAfter: 0 })
      const signature = await account.sign({ hash })
      return {
        method: 'x402',
        network: network.id,
        ...transfer,
        signature,
        sinceBlock: since.block,
      }
    },

    payBack: (refund: X402Refund) =>
      payBack(chain, evidence, refund, [account.address, ...earlier]),
  }
}

/** The token itself refuses a second payout from the same wallet, whatever happens to our database. */
export function refundNonceOf(chainId: number, reference: string): Hex {
  return keccak256(toBytes(`refund:v1|${chainId}|${reference}`))
}

type Wallets = readonly [string, ...string[]]

async function payBack(
  chain: Chain,
  evidence: Evidence,
  refund: X402Refund,
  wallets: Wallets,
): Promise<PaidBack> {
  try {
    const verdict = await evidence.judge({ ...refund, value: refund.amount })
    switch (verdict.verdict) {
      case 'transferred':
        return await paidBy(evidence, refund, verdict)
      case 'dead':
        return verdict.cause === 'expired'
          ? { outcome: 'lapsed' }
          : { outcome: 'blocked', code: 'refund_nonce_spent', reason: spentElsewhere }
      case 'open':
        return (
          (await paidByOther(chain, evidence, refund, wallets)) ??
          (await obstacle(chain, refund, wallets)) ??
          (await send(chain, refund))
        )
      default:
        return never(verdict)
    }
  } catch (error) {
    return pending(reasonOf(error))
  }
}

/** A refund that was once taken as paid is never looked at again, so it must be final and borne out. */
async function paidBy(
  evidence: Evidence,
  refund: X402Refund,
  { transfer, isSafe }: Extract<Verdict, { verdict: 'transferred' }>,
): Promise<PaidBack> {
  if (!isSafe) return pending('The refund is in a block that is not safe yet.')
  const { block: _, ...paid } = transfer
  return (await evidence.bearsOutRefund(transfer, { ...refund, value: refund.amount }))
    ? { outcome: 'paid', ...paid }
    : pending('No witness has seen the refund in a safe block yet.')
}

/** Nonces count per wallet, so the token would let each wallet pay the same refund. */
async function paidByOther(
  chain: Chain,
  evidence: Evidence,
  refund: X402Refund,
  wallets: Wallets,
): Promise<PaidBack | undefined> {
  for (const wallet of wallets) {
    if (wallet.toLowerCase() === refund.from.toLowerCase()) continue
    const byOther = { ...refund, from: wallet }
    if (!(await isUsedAt(chain, byOther))) continue
    const verdict = await evidence.judge({ ...byOther, value: refund.amount })
    if (verdict.verdict === 'transferred') return paidBy(evidence, byOther, verdict)
    if (verdict.verdict === 'open') return pending('Another wallet of the store may have paid it.')
  }
  return undefined
}

const spentElsewhere =
  'The refund authorization was used for something else, which only the key of the refund wallet can do.'

async function obstacle(
  chain: Chain,
  refund: X402Refund,
  [present]: Wallets,
): Promise<PaidBack | undefined> {
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
  const until = new Date(refund.validBefore * 1_000).toISOString()
  const untilLapsed = `The refund that it has signed can be paid until ${until}; a retry after that pays from the present wallet.`
  const ofWallet = (code: PayBackFault, does: string) =>
    refund.from === present
      ? blocked(code, `The refund wallet ${does}.`)
      : blocked(code, `The earlier refund wallet ${refund.from} ${does}. ${untilLapsed}`)
  if (walletBlocked) return ofWallet('wallet_blacklisted', 'is blacklisted by USDC')
  if (float < refund.amount) return ofWallet('no_float', 'does not hold enough USDC')
  return undefined
}

async function send(chain: Chain, refund: X402Refund): Promise<PaidBack> {
  try {
    // Gas that a refund wastes counts against nobody: the store itself decided to send it.
    await sendTransfer(chain, { ...refund, validAfter: 0 }, { withinMs: inBlockTimeoutMs })
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
  return { outcome: 'blocked', code, reason, mayStillPay: true }
}
