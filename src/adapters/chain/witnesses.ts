import { type Usdc, usdc } from '../../lib/money.ts'
import { within } from '../../lib/within.ts'
import type { X402Receipt } from '../../payments/payment.ts'
import type { Confirmation } from '../../payments/ports.ts'
import type { Expected } from '../../payments/proof.ts'
import { type ChainNode, recent } from './clients.ts'
import {
  type Authorization,
  confirmationAt,
  judge,
  type ProvenTransfer,
  proveByTransaction,
  type Verdict,
} from './proofs.ts'
import { receiptOf, tokenLogsIn, usedTopic } from './token.ts'

export interface Witnesses {
  /** Whether a block with this timestamp, in seconds, can be the newest one of a live chain. */
  readonly isCurrent: (timestamp: bigint) => boolean
  /** Further nodes of the same chain, run by somebody else. If empty, our node alone is believed. */
  readonly nodes: readonly ChainNode[]
  /** From this amount on, our node alone is not believed that money has arrived. */
  readonly from: Usdc
}

/** What our node says about payments and refunds, as far as the witnesses bear it out. */
export interface Evidence {
  /** Our node's verdict; `dead` only if every witness says the same. */
  judge(authorization: Authorization): Promise<Verdict>
  /**
   * Whether a payment of this amount could be borne out now. If not, its money would arrive and
   * its order would wait without end.
   */
  couldBearOut(amount: Usdc): Promise<boolean>
  /** The largest payment that could be borne out now; undefined: any. */
  maxBorneOut(): Promise<Usdc | undefined>
  bearsOut(found: ProvenTransfer, expected: Expected): Promise<boolean>
  /** Whether a refund that our node calls final counts as paid. Needs a witness for any amount. */
  bearsOutRefund(found: ProvenTransfer, expected: Authorization): Promise<boolean>
  /** `final` only if borne out; `gone` only if every witness says the same. */
  confirmationOf(receipt: X402Receipt, expected: Authorization): Promise<Confirmation>
}

/**
 * A node that lags, is broken or lies most easily shows an absence: that money will never come, or has vanished. So
 * no node alone is believed that. For an arrival of a small amount our node's logs are enough. A witness that does
 * not answer neither proves nor disproves anything.
 */
export function evidenceOf(node: ChainNode, { nodes, from, isCurrent }: Witnesses): Evidence {
  const every = async (asked: (witness: ChainNode) => Promise<boolean>) =>
    (await ask(nodes, asked)).every(Boolean)
  const some = async (asked: (witness: ChainNode) => Promise<boolean>) =>
    nodes.length === 0 || (await ask(nodes, asked)).some(Boolean)

  const looks = nodes.map((witness) => recent(lookKeptMs, () => lookAt(witness, isCurrent)))
  const someIsWell = async () => {
    const ends = await Promise.allSettled(looks.map((look) => within(maxLookMs, look(), 'late')))
    return ends.length === 0 || ends.some(({ status }) => status === 'fulfilled')
  }

  const bearsOut: Evidence['bearsOut'] = async ({ transaction }, expected) =>
    expected.value < from ||
    some(async (witness) => {
      return (await proveByTransaction(witness, { hash: transaction }, expected)) !== undefined
    })

  const stands = (confirmation: Confirmation, found: ProvenTransfer, expected: Authorization) => {
    return async (witness: ChainNode) =>
      (await confirmationAt(witness, found, expected)) === confirmation
  }

  return {
    couldBearOut: async (amount) => amount < from || someIsWell(),

    maxBorneOut: async () => ((await someIsWell()) ? undefined : usdc(from > 0n ? from - 1n : 0n)),

    async judge(authorization) {
      const verdict = await judge(node, authorization)
      if (verdict.verdict !== 'dead') return verdict
      const isAgreed = await every(async (witness) => {
        const other = await judge(witness, authorization)
        return other.verdict === 'dead' && other.cause === verdict.cause
      })
      return isAgreed ? verdict : { verdict: 'open', soFar: 'hidden' }
    },

    bearsOut,

    bearsOutRefund: (found, expected) => some(stands('final', found, expected)),

    async confirmationOf({ transaction, block }, expected) {
      const found = { transaction, block } as ProvenTransfer
      const confirmation = await confirmationAt(node, found, expected)
      if (confirmation === 'gone') {
        return (await every(stands('gone', found, expected))) ? 'gone' : 'unknown'
      }
      if (confirmation !== 'final' || expected.value < from) return confirmation
      return (await some(stands('final', found, expected))) ? 'final' : 'not_yet'
    },
  }
}

/** A slower answer is not waited for, because the store decides every few seconds whether it sells. */
const maxLookMs = 3_000
/** How long a witness that was well is not looked at again. */
const lookKeptMs = 10_000

/** @throws unless the node serves what bears out a payment: a current block, the safe one, logs and receipts */
async function lookAt(witness: ChainNode, isCurrent: Witnesses['isCurrent']): Promise<void> {
  const [head, safe] = await Promise.all([
    witness.reader.getBlock(),
    witness.reader.getBlock({ blockTag: 'safe' }),
  ])
  const isBehind = !isCurrent(head.timestamp) || head.number < safe.number
  if (isBehind) throw new Error('The newest block of a witness is old.')
  await tokenLogsIn(witness, { from: Number(safe.number), to: 'safe' }, [usedTopic])
  // On Base every block has a transaction; for an empty block there is no receipt to show.
  const [transaction] = safe.transactions
  if (transaction === undefined || (await receiptOf(witness, transaction))) return
  throw new Error('A witness has a block and no receipt of it.')
}

function ask(
  nodes: readonly ChainNode[],
  asked: (witness: ChainNode) => Promise<boolean>,
): Promise<boolean[]> {
  return Promise.all(nodes.map((witness) => asked(witness).catch(() => false)))
}
