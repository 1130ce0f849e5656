import type { OrderId } from '../lib/ids.ts'
import { type Goodwill, goodwillReferenceOf } from '../orders/goodwill.ts'
import { same } from '../payments/payment.ts'
import { differs, type Finding, open } from './differences.ts'
import { isFresh } from './judge.ts'
import type { ChainTransfer } from './ports.ts'
import { type Look, type Notes, note, type Sources } from './sources.ts'

/** Compares all goodwill on record with the transfers that were seen. */
export async function compareGoodwill(
  { chain, store }: Pick<Sources, 'chain' | 'store'>,
  look: Look,
  notes: Notes,
): Promise<void> {
  const onRecord = new Map((await store.goodwill()).map((one) => [one.id, one]))
  const paid = new Set<OrderId>()
  for (const { order, transfer } of notes.given) {
    notes.goodwill.onChain += transfer.amount
    paid.add(order)
    note(notes, judgeGoodwill(transfer, order, onRecord.get(order), look))
  }
  for (const one of onRecord.values()) {
    if (one.payout.state === 'CONFIRMED') notes.goodwill.booked += one.amount
    if (!paid.has(one.id)) note(notes, await unseen(chain, one, notes))
  }
}

/** Judges a transfer with the nonce of an order's goodwill against what is on record of it. */
function judgeGoodwill(
  transfer: ChainTransfer,
  order: OrderId,
  goodwill: Goodwill | undefined,
  look: Look,
): Finding | undefined {
  const { transaction, amount } = transfer
  const about = { order, transaction, found: amount }
  if (!goodwill) return differs('goodwill_not_booked', { ...about, onRecord: 0n })
  const { payout } = goodwill
  if (amount !== goodwill.amount || !same(transfer.to, goodwill.tender.payer)) {
    const detail = `It paid ${transfer.to}.`
    return differs('goodwill_differs', { ...about, onRecord: goodwill.amount, detail })
  }
  if (payout.state === 'CONFIRMED') {
    const detail = `On record is ${payout.transaction}.`
    return same(payout.transaction, transaction)
      ? undefined
      : differs('goodwill_differs', { ...about, detail })
  }
  return payout.state === 'APPROVED' && isFresh(goodwill.changedAt, look)
    ? open('store', about)
    : differs('goodwill_not_booked', { ...about, onRecord: 0n, detail: payout.state })
}

/** Asks by name for paid goodwill that the scan did not meet: it is in an earlier or a later block, or does not exist. */
async function unseen(
  chain: Sources['chain'],
  { id, amount, tender, payout }: Goodwill,
  notes: Notes,
): Promise<Finding | undefined> {
  if (payout.state !== 'CONFIRMED') return undefined
  const { transaction } = payout
  const found = await chain.transferIn(transaction, chain.refundNonceOf(goodwillReferenceOf(id)))
  const about = { order: id, transaction, onRecord: amount }
  if (!found) return differs('goodwill_booked_not_on_chain', { ...about, found: 0n })
  notes.goodwill.onChain += found.amount
  if (found.amount === amount && same(found.to, tender.payer)) return undefined
  const detail = `It paid ${found.to}.`
  return differs('goodwill_differs', { ...about, found: found.amount, detail })
}
