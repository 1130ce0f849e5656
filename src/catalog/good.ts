import * as z from 'zod'
import type { KindDefinition } from './kinds/kind.ts'
import { goods } from './kinds.ts'
import type { Kind } from './offer.ts'

export { goods }

export const kinds = Object.keys(goods) as readonly Kind[]

/** The kind of an offer, a recipient or a delivery, for code that serves them all. */
export function kindOf({ kind }: { readonly kind: Kind }): KindDefinition {
  return goods[kind]
}

/** Something of each kind. */
export function byKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<Kind, T>
}

/** Likewise, by what lists call the kinds. */
export function byPlural<T>(make: (kind: Kind) => T): Record<string, T> {
  return Object.fromEntries(kinds.map((kind) => [goods[kind].plural, make(kind)]))
}

/** What the buyer told about who receives the good. */
export type Recipient = {
  readonly [K in Kind]: { readonly kind: K } & ReturnType<(typeof goods)[K]['recipientOf']>
}[Kind]

type AnyDelivery = (typeof goods)[Kind]['delivery']

/** What the buyer receives. Secret until it is shown to its buyer. */
export const Delivery = z.discriminatedUnion(
  'kind',
  Object.values(goods).map(({ delivery }) => delivery) as [AnyDelivery, ...AnyDelivery[]],
)
export type Delivery = z.infer<typeof Delivery>
