import * as z from 'zod'
import type { KindDefinition } from './kinds/kind.ts'
import { goods } from './kinds.ts'
import type { Kind } from './offer.ts'

export const kinds = Object.keys(goods) as readonly Kind[]

/** The definition of the kind of an offer, a recipient or a delivery, for code that serves all kinds. */
export function kindOf({ kind }: { readonly kind: Kind }): KindDefinition {
  return goods[kind]
}

/** Makes one value for each kind. */
export function byKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<Kind, T>
}

/** Likewise, keyed by the plural names of the kinds. */
export function byPlural<T>(make: (kind: Kind) => T): Record<string, T> {
  return Object.fromEntries(kinds.map((kind) => [goods[kind].plural, make(kind)]))
}

/** Who receives the goods, as the buyer named them. */
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
