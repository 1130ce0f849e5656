import { type Usdc, usdc } from '../primitives/money.ts'

/** What this process sold, of which a look at the means may not know yet. */
export interface Sales {
  add(reference: string, amount: Usdc): void
  has(reference: string): boolean
  remove(reference: string): void
  /** What was sold before then is seen where the means are. */
  forgetBefore(then: Date): void
  total(): Usdc
}

export function keepSales(now: () => Date): Sales {
  const sold = new Map<string, { readonly amount: Usdc; readonly at: Date }>()
  return {
    add: (reference, amount) => void sold.set(reference, { amount, at: now() }),
    has: (reference) => sold.has(reference),
    remove: (reference) => void sold.delete(reference),
    forgetBefore(then) {
      for (const [reference, { at }] of sold) if (at < then) sold.delete(reference)
    },
    total: () => usdc([...sold.values()].reduce((sum, { amount }) => sum + amount, 0n)),
  }
}
