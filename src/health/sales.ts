import { type Usdc, usdc } from '../lib/money.ts'

/** What this process sold, of which a look at the means may not know yet. */
export interface Sales {
  add(reference: string, amount: Usdc): void
  has(reference: string): boolean
  /** Its order is on record, where the next look sees it. */
  noteOpened(reference: string): void
  remove(reference: string): void
  /** What was on record then is seen where the means are. */
  forgetBefore(then: Date): void
  total(): Usdc
}

export function keepSales(now: () => Date): Sales {
  const sold = new Map<string, { readonly amount: Usdc; readonly openedAt?: Date }>()
  return {
    add: (reference, amount) => void sold.set(reference, { amount }),
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
    total: () => usdc([...sold.values()].reduce((sum, { amount }) => sum + amount, 0n)),
  }
}
