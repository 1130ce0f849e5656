import type { Offer } from './offer.ts'

/** The narrowest first: of two rules for one offer, the one with the narrower scope counts. */
const offerScopes = {
  offer: ({ id }: Offer) => id,
  brand_country: ({ brand, country }: Offer) => country && brandInCountry(brand, country),
  brand: ({ brand }: Offer) => brand,
  /** Plans for several countries are of none. */
  country: ({ country }: Offer) => country,
  kind: ({ kind }: Offer) => kind,
  supplier: ({ source }: Offer) => source.supplier,
  everything: () => '',
} as const satisfies Readonly<Record<string, (offer: Offer) => string | undefined>>

type OfferScope = keyof typeof offerScopes

const narrowestFirst = Object.keys(offerScopes) as readonly OfferScope[]

/** Whether the one counts where both are for one offer, whichever is newer. */
export function isNarrower(one: Scope, other: Scope): boolean {
  const order: readonly Scope['type'][] = narrowestFirst
  return order.indexOf(one.type) < order.indexOf(other.type)
}

/** What a rule is about. `method` is a way to pay: `x402`, or the symbol of a coin. */
export interface Scope {
  readonly type: OfferScope | 'method'
  /** The id, key, code or name of it; of a brand in a country as `brandInCountry` writes it; '' of everything. */
  readonly key: string
}

export function brandInCountry(brand: string, country: string): string {
  return `${brand}/${country}`
}

export interface Margin {
  /** Basis points on top of the supplier's price: 250 is 2.5 %. More than -10,000. */
  readonly bps: number
  /** US cents added after that. */
  readonly cents: number
}

const textEffects = ['name', 'description', 'picture'] as const

/** Where an offer has these words. Only vouchers have a picture, and others keep theirs unseen. */
const fieldsOf: Readonly<Record<(typeof textEffects)[number], (offer: Offer) => string>> = {
  name: () => 'brandName',
  description: ({ kind }) => (kind === 'voucher' ? 'description' : 'notes'),
  picture: () => 'image',
}

export type Effect =
  | { readonly type: 'pause' | 'hide' | 'feature' }
  /** `least_margin` is on top of what the supplier charges the store. */
  | ({ readonly type: 'margin' | 'least_margin' } & Margin)
  | { readonly type: (typeof textEffects)[number]; readonly text: string }

export const effectTypes = [
  ...(['pause', 'hide', 'margin', 'least_margin', 'feature'] as const),
  ...textEffects,
] as const satisfies readonly Effect['type'][]

export interface SellingRule {
  /** Higher is newer. */
  readonly id: number
  readonly scope: Scope
  readonly effect: Effect
}

export type SellingRules = ReturnType<typeof sellingRulesOf>

type ByScope<E> = ReadonlyMap<Scope['type'], ReadonlyMap<string, E>>

/**
 * What the rules in force say of an offer.
 *
 * @param rules those in force, in any order
 * @param all what there is of a type, such as all ways to pay; while none of them is left, everything is paused
 */
export function sellingRulesOf(
  rules: readonly SellingRule[],
  all: Readonly<Partial<Record<Scope['type'], readonly string[]>>> = {},
) {
  const newestLast = rules.toSorted((one, other) => one.id - other.id)
  const of = <T extends Effect['type']>(type: T) =>
    byScope(newestLast.filter(({ effect }) => effect.type === type)) as ByScope<
      Extract<Effect, { type: T }>
    >
  const [pause, hide] = [of('pause'), of('hide')]
  const [margin, leastMargin] = [of('margin'), of('least_margin')]
  const texts = textEffects.map((type) => [type, of(type)] as const)
  const somePause = new Map([...pause].filter(([type]) => type !== 'everything'))
  const isPaused = (type: Scope['type'], key: string) => pause.get(type)?.has(key) ?? false
  const isNoneLeft = Object.entries(all).some(([type, keys]) =>
    keys.every((key) => isPaused(type as Scope['type'], key)),
  )
  return {
    isEverythingPaused: pause.has('everything') || isNoneLeft,
    /** Not by a pause of everything. */
    pauses: (offer: Offer) => narrowest(somePause, offer) !== undefined,
    /** @param method `x402`, or the symbol of a coin */
    pausesMethod: (method: string) => isPaused('method', method),
    hides: (offer: Offer) => narrowest(hide, offer) !== undefined,
    /** Undefined where the default counts. */
    marginOf: (offer: Offer): Margin | undefined => narrowest(margin, offer),
    leastMarginOf: (offer: Offer): Margin | undefined => narrowest(leastMargin, offer),
    featured: newestLast.filter(({ effect }) => effect.type === 'feature').toReversed(),
    /** The offer with the operator's words: itself, if none are about it. */
    reworded(offer: Offer): Offer {
      const changes = texts.flatMap(([field, table]) => {
        const text = narrowest(table, offer)?.text
        return text === undefined ? [] : [[fieldsOf[field](offer), text]]
      })
      return changes.length === 0 ? offer : { ...offer, ...Object.fromEntries(changes) }
    },
  }
}

export const noRules = sellingRulesOf([])

function byScope(rules: readonly SellingRule[]): ByScope<Effect> {
  const tables = new Map<Scope['type'], Map<string, Effect>>()
  for (const { scope, effect } of rules) {
    const table = tables.get(scope.type) ?? new Map<string, Effect>()
    tables.set(scope.type, table.set(scope.key, effect))
  }
  return tables
}

function narrowest<E>(tables: ByScope<E>, offer: Offer): E | undefined {
  if (tables.size === 0) return undefined
  for (const type of narrowestFirst) {
    const key = tables.has(type) ? offerScopes[type](offer) : undefined
    const effect = key === undefined ? undefined : tables.get(type)?.get(key)
    if (effect !== undefined) return effect
  }
  return undefined
}

/** Whether it is of this scope; no offer is of a way to pay. */
export function isWithin({ type, key }: Scope, offer: Offer): boolean {
  return type !== 'method' && offerScopes[type](offer) === key
}
