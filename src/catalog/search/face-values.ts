import type { MoneyRange } from '../offer-base.ts'

/** A range of face values in US dollars; without `max` it is open at the top. */
export interface Band {
  readonly min: number
  readonly max?: number
}

/** The key of a face value in the index: "EUR 25"; of an open one only its currency. */
export function faceKeyOf(face: MoneyRange): string {
  return face.type === 'FIXED' ? `${face.currency} ${face.fixed / face.divisor}` : face.currency
}

/** The usual ranges of gift card values. An offer is found by the indexes of those that it meets. */
export const bands: readonly Band[] = [
  { min: 0, max: 10 },
  { min: 10, max: 25 },
  { min: 25, max: 50 },
  { min: 50, max: 100 },
  { min: 100 },
]

/** The indexes of the bands that a face value meets; none if its value is unknown (NaN). */
export function bandsMet(least: number, most: number): string[] {
  return [...bands.entries()]
    .filter(([, { min, max = Number.POSITIVE_INFINITY }]) => most >= min && least <= max)
    .map(([place]) => String(place))
}

/** Offers of a fixed value, or those whose value the buyer chooses. */
export const amountKinds = ['fixed', 'open'] as const
export type AmountKind = (typeof amountKinds)[number]
