import { type HandPayouts, noProcessor, type PayoutRecord } from '../../src/checkouts/ports.ts'
import { invoiceMethod } from '../../src/checkouts/returns.ts'

interface Row {
  readonly pullPayments: Set<string>
  readonly payouts: Set<string>
  waitsSince?: number | undefined
  isTold?: boolean
}

/** The record of payouts in memory. */
export function memoryPayouts(now: () => Date = () => new Date()): PayoutRecord {
  const rows = new Map<string, Row>()
  const rowOf = (reference: string): Row => {
    const row = rows.get(reference) ?? { pullPayments: new Set(), payouts: new Set() }
    rows.set(reference, row)
    return row
  }
  return {
    async find(reference) {
      const { pullPayments, payouts } = rowOf(reference)
      return { pullPayments: [...pullPayments], payouts: [...payouts] }
    },
    async keep(reference, seen) {
      const row = rowOf(reference)
      for (const id of seen.pullPayments) row.pullPayments.add(id)
      for (const id of seen.payouts) row.payouts.add(id)
    },
    async waits(reference, longMs) {
      const row = rowOf(reference)
      row.waitsSince ??= now().getTime()
      if (row.isTold || now().getTime() - row.waitsSince < longMs) return false
      row.isTold = true
      return true
    },
    async rests(reference) {
      const row = rowOf(reference)
      row.waitsSince = undefined
      row.isTold = false
    },
  }
}

/** No operator has paid anything by hand. */
export const noHands: HandPayouts = { find: async () => undefined }

/** The method of a store that accepts no coins. */
export const noInvoices = invoiceMethod({
  processor: noProcessor,
  hands: noHands,
  checkouts: { findByOrder: async () => undefined },
  watch: async (_reference, paid) => paid,
})
