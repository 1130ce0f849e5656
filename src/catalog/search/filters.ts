/** An offer must meet all of them (docs/contributors/decisions/017). */
export interface Filters {
  /** A brand, operator or provider: the whole name or the beginnings of its words. */
  readonly brand?: string | undefined
  /** By the supplier's keys. */
  readonly brandKeys?: readonly string[] | undefined
  /** Free text: each word begins a word of the offer, typos allowed. It also decides the order of the result. */
  readonly text?: string | undefined
  /** The same without typos, and without a say in the order. */
  readonly exactText?: string | undefined
  /** The offer's own country. */
  readonly country?: string | undefined
  readonly countries?: readonly string[] | undefined
  readonly subType?: string | undefined
  /** The supplier's own word for a voucher, or one of its sub-types. */
  readonly category?: string | undefined
  readonly regions?: readonly string[] | undefined
  readonly multiCountry?: true | undefined
  /** Each of these countries is the offer's own, or one that it covers. */
  readonly covers?: readonly string[] | undefined
  readonly durationDays?: number | undefined
  readonly minDays?: number | undefined
  readonly maxDays?: number | undefined
  /** Unlimited data is more than any number. */
  readonly minDataGb?: number | undefined
  readonly maxDataGb?: number | undefined
  readonly amount?: AmountKind | undefined
  /** Face value in USD: a fixed one must lie within the bounds, an open one overlap them. */
  readonly minUsd?: number | undefined
  readonly maxUsd?: number | undefined
  readonly currency?: string | undefined
  /** In its own currency: a fixed face value is this, an open one includes it. */
  readonly faceValue?: number | undefined
  readonly minUsdc?: number | undefined
  readonly maxUsdc?: number | undefined
  readonly every?: readonly Filters[] | undefined
  readonly any?: readonly Filters[] | undefined
  readonly none?: readonly Filters[] | undefined
}

export function without(filters: Filters, ...names: readonly (keyof Filters)[]): Filters {
  return { ...filters, ...Object.fromEntries(names.map((name) => [name, undefined])) }
}

/** A range of face values in US dollars; without `max` it is open at the top. */
export interface Band {
  readonly min: number
  readonly max?: number
}

export const bands: readonly Band[] = [
  { min: 0, max: 10 },
  { min: 10, max: 25 },
  { min: 25, max: 50 },
  { min: 50, max: 100 },
  { min: 100 },
]

export const amountKinds = ['fixed', 'open'] as const
export type AmountKind = (typeof amountKinds)[number]
