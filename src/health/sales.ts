import { type Usdc, usdc } from '../lib/money.ts'

/** The sales of this process that may not show in the means yet. */
export interface Sales {
  add(reference: string, amount: Usdc, supplier: string): void
  has(reference: string): boolean
  /** The order of this sale is on record, so the next reading of the means includes it. */
  noteOpened(reference: string): void
  remove(reference: string): void
  /** Forgets sales whose orders were on record before this time: the means include them. */
  forgetBefore(then: Date): void
  /** @param supplier only what was sold of its offers */
  total(supplier?: string): Usdc
}

interface Sale {
  readonly amount: Usdc
  readonly supplier: string
  readonly openedAt?: Date
}

export function createSales(now: () => Date): Sales {
  const sold = new Map<string, Sale>()
  return {
    add: (reference, amount, supplier) => void sold.set(reference, { amount, supplier }),
    has: (reference) => sold.has(reference),
    noteOpened(reference) {
      const sale = sold.get(reference)
      if (sale) sold.set(reference, { ...sale, openedAt: now() })
    },
    remove: (reference) => void sold.delete(reference),
    forgetBefore(then) {
      for (const [reference, { openedAt }] of sold) {
        if (openedAt && openedAt < then) sold.delete(reference)
      }
    },
    total(supplier) {
      const of = [...sold.values()].filter((one) => !supplier || one.supplier === supplier)
      return usdc(of.reduce((sum, { amount }) => sum + amount, 0n))
    },
  }
}
