/** A range of face values in US dollars; without `max` it is open at the top. */
export interface Band {
  readonly min: number
  readonly max?: number
}

/** The usual ranges of gift card values. */
export const bands: readonly Band[] = [
  { min: 0, max: 10 },
  { min: 10, max: 25 },
  { min: 25, max: 50 },
  { min: 50, max: 100 },
  { min: 100 },
]

/** Offers of a fixed value, or those whose value the buyer chooses. */
export const amountKinds = ['fixed', 'open'] as const
export type AmountKind = (typeof amountKinds)[number]
