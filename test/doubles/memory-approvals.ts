import type { Order } from '../../src/orders/order.ts'
import type { Approval, ApprovalStore } from '../../src/orders/ports.ts'

/** The most purchases of one payer that wait for a person at once, as in the schema. */
export const maxOpenApprovals = 10

/** Approvals in memory. */
export function memoryApprovals() {
  const rows = new Map<string, Approval>()
  const newestFirst = () => [...rows.values()].reverse()

  const store: ApprovalStore = {
    async request(wanted, now) {
      const open = newestFirst().filter(
        ({ payer, purchase, endsAt }) =>
          payer === wanted.payer && purchase === wanted.purchase && endsAt > now,
      )
      const kept =
        open.find(({ decision }) => decision === 'DECLINED') ??
        open.find(({ decision, most }) => decision === null && most >= wanted.amount)
      if (kept) return kept
      const waiting = newestFirst().filter(
        ({ payer, decision, endsAt }) =>
          payer === wanted.payer && decision === null && endsAt > now,
      )
      const ends = waiting.map(({ endsAt }) => endsAt.getTime())
      if (ends.length >= maxOpenApprovals) return { openUntil: new Date(Math.min(...ends)) }
      const added = { ...wanted, decision: null, usedBy: null }
      rows.set(wanted.tokenHash, added)
      return added
    },

    find: async (tokenHash) => rows.get(tokenHash),

    async decide(tokenHash, { decision, now, endsAt }) {
      const row = rows.get(tokenHash)
      if (row === undefined || row.decision !== null || row.endsAt <= now) return false
      rows.set(tokenHash, { ...row, decision, endsAt })
      return true
    },

    async use({ payer, purchase, amount }, order, now) {
      const good = newestFirst().filter(
        (row) =>
          row.payer === payer &&
          row.purchase === purchase &&
          row.most >= amount &&
          row.decision === 'APPROVED' &&
          row.endsAt > now,
      )
      const row =
        good.find(({ usedBy }) => usedBy === order) ?? good.find(({ usedBy }) => usedBy === null)
      if (row) rows.set(row.tokenHash, { ...row, usedBy: order })
      return row !== undefined
    },

    async forget(before) {
      const ended = newestFirst().filter(({ endsAt }) => endsAt < before)
      for (const { tokenHash } of ended) rows.delete(tokenHash)
      return ended.length
    },
  }

  return {
    ...store,

    /** Whether this order has used an approval of its payer that covers its price. */
    hasUsed: ({ id, payment, amount }: Order) =>
      newestFirst().some(
        (row) =>
          row.usedBy === id && row.payer === payment.payer.toLowerCase() && row.most >= amount,
      ),
  }
}
