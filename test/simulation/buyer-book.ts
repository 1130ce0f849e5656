import type { OrderId } from '../../src/lib/ids.ts'
import { supplierReferenceOf } from '../../src/orders/order.ts'
import type { BuyerSpec, Scenario } from './scenario.ts'
import type { Trace } from './trace.ts'

export interface Buyer {
  readonly index: number
  readonly spec: BuyerSpec
  readonly wallet: string
  readonly key: string | undefined
  /** The access tokens from its first answers, by order. */
  readonly tokens: Map<OrderId, string>
  /** The secrets that sign the events of its webhooks, by order. */
  readonly secrets: Map<OrderId, string>
  readonly webhookUrl: string | undefined
}

/** Which buyer signed which payment. Only the outside knows this, not the store. */
export type BuyerBook = ReturnType<typeof buyerBook>

/** The wallet with a spending limit. It has room for one card and little else. */
export const limited = { wallet: walletOf(0), perDay: 40_000_000n }

export function walletOf(index: number): string {
  return `0x${String(index + 2).padStart(40, '2')}`
}

/** Nothing but its wallet tells its purchases from those of others, so it has one of its own. */
export function isForgetful({ habit, hasKey }: BuyerSpec): boolean {
  return habit === 'pays-anew' && hasKey === 'no'
}

export function buyerBook({ buyers }: Scenario, trace: Trace) {
  const byName = new Map<string, Buyer>()
  const all: readonly Buyer[] = buyers.map((spec, index) => ({
    index,
    spec,
    wallet: walletOf(isForgetful(spec) ? 10 + index : spec.wallet),
    key: spec.hasKey === 'yes' ? `the-one-key-of-buyer-${spec.luck}` : undefined,
    tokens: new Map(),
    secrets: new Map(),
    webhookUrl: spec.webhook === 'none' ? undefined : `https://agent${index}.example.com/`,
  }))
  return {
    buyers: all,

    signed(buyer: Buyer, nonce: string, order: OrderId) {
      for (const name of [nonce, order, supplierReferenceOf(order)]) byName.set(name, buyer)
      trace.knows(nonce, order)
      trace.knows(order, order)
    },

    ofNonce: (nonce: string) => byName.get(nonce),
    ofOrder: (id: OrderId) => byName.get(id),
    // A mutant appends the number of the attempt to the reference.
    ofReference: (reference: string) => byName.get(reference.slice(0, 29)),
    ofUrl: (url: string) => all.find(({ webhookUrl }) => webhookUrl === url),
  }
}
