import { type HandPayouts, noProcessor, type PayoutRecord } from '../../src/checkouts/ports.ts'
import { invoiceMethod } from '../../src/checkouts/returns.ts'

interface Row {
  pullPayment?: string
  readonly payouts: Set<string>
  waitsSince?: number | undefined
  isTold?: boolean
}

/** The record of payouts in memory. */
export function memoryPayouts(now: () => Date = () => new Date()): PayoutRecord {
  const rows = new Map<string, Row>()
  const rowOf = (reference: string): Row => {
    const row = rows.get(reference) ?? { payouts: new Set() }
    rows.set(reference, row)
    return row
  }
  return {
    async find(reference) {
      const { pullPayment, payouts } = rowOf(reference)
      return { pullPayment: pullPayment ?? null, payouts: [...payouts] }
    },
    async choose(reference, pullPayment) {
      const row = rowOf(reference)
      row.pullPayment ??= pullPayment
      return row.pullPayment
    },
    async keep(reference, payouts) {
      const row = rowOf(reference)
      for (const id of payouts) row.payouts.add(id)
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
