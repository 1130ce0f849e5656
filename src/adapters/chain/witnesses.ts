import { type Usdc, usdc } from '../../lib/money.ts'
import { within } from '../../lib/within.ts'
import type { X402Receipt } from '../../payments/payment.ts'
import type { Confirmation } from '../../payments/ports.ts'
import type { Expected } from '../../payments/proof.ts'
import type { ChainNode } from './clients.ts'
import {
  type Authorization,
  confirmationAt,
  judge,
  type ProvenTransfer,
  proveByTransaction,
  type Verdict,
} from './proofs.ts'
import { receiptOf } from './receipts.ts'
import { recent } from './recent.ts'
import { tokenLogsIn, usedTopic } from './token-logs.ts'

export interface Witnesses {
  /** Whether a block with this time can be the newest one of a chain that goes on; in seconds. */
  readonly isCurrent: (timestamp: bigint) => boolean
  /** Further nodes of the same chain, run by somebody else. None: one node is believed. */
  readonly nodes: readonly ChainNode[]
  /** From this amount on, one node alone is not believed that money has arrived. */
  readonly from: Usdc
}

/** What the chain says of money, as our node tells it and the witnesses bear out. */
export interface Evidence {
  /** Our node's verdict; that an authorization is dead, every witness has to say too. */
  judge(authorization: Authorization): Promise<Verdict>
  /**
   * Whether a payment of this amount could be borne out just now: money that nobody else could
   * see arrive would be held without end.
   */
  couldBearOut(amount: Usdc): Promise<boolean>
  /** What a payment may be at most to be borne out just now; undefined: whatever it is. */
  maxBorneOut(): Promise<Usdc | undefined>
  /** Whether a payment that our node has found may be taken for settled. */
  bearsOut(found: ProvenTransfer, expected: Expected): Promise<boolean>
  /** Whether a refund that our node says is final may be taken for paid, whatever its amount. */
  bearsOutRefund(found: ProvenTransfer, expected: Authorization): Promise<boolean>
  /** Final only when borne out; gone, which is an absence, only when every witness misses it. */
  confirmationOf(receipt: X402Receipt, expected: Authorization): Promise<Confirmation>
}

/**
 * A node can be behind, broken or lying. That money will never come, or has vanished, is an absence,
 * which is what such a node shows most easily: no node alone is believed it. That money has arrived
 * takes logs; one node alone is believed those for a small amount, which is all it can cost. A
 * witness that does not answer has said nothing: it neither proves nor disproves.
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
      return (await proveByTransaction(witness, transaction, expected)) !== undefined
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

/** What is slower than this is not waited for: the store sells by what it sees every few seconds. */
const maxLookMs = 3_000
/** So long a witness that was well is not looked at again. */
const lookKeptMs = 10_000

/**
 * Looks whether a node shows what bears out a payment: a current block, the safe one, the logs up to
 * it, and the receipt of a transaction. One that has no more than blocks would never bear one out.
 *
 * @throws when it does not
 */
async function lookAt(witness: ChainNode, isCurrent: Witnesses['isCurrent']): Promise<void> {
  const [head, safe] = await Promise.all([
    witness.reader.getBlock(),
    witness.reader.getBlock({ blockTag: 'safe' }),
  ])
  const isBehind = !isCurrent(head.timestamp) || head.number < safe.number
  if (isBehind) throw new Error('The newest block of a witness is old.')
  await tokenLogsIn(witness, { from: Number(safe.number), to: 'safe' }, [usedTopic])
  // On Base every block has one; in a block that has none there is nothing to show.
  const [transaction] = safe.transactions
  if (transaction === undefined || (await receiptOf(witness, transaction))) return
  throw new Error('A witness has a block and no receipt of it.')
}

/** What each witness says; one that does not answer does not say yes. */
function ask(
  nodes: readonly ChainNode[],
  asked: (witness: ChainNode) => Promise<boolean>,
): Promise<boolean[]> {
  return Promise.all(nodes.map((witness) => asked(witness).catch(() => false)))
}
