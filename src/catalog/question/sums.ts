import type { Offer } from '../offer.ts'

/** Together at most so many cards make a sum. */
const maxCards = 10

/** In minor units. */
interface Sum {
  readonly total: number
  readonly cards: readonly (readonly [count: number, value: number])[]
}

/**
 * The cards of one brand that together have a value that none has alone, as few as possible: "2 x 15 GBP". If none
 * do, the nearest sums below and above it.
 *
 * @param offers of one currency, with a fixed face value
 * @param amountInMajor in major units
 */
export function sumsFor(offers: readonly Offer[], amountInMajor: number): string[] {
  const faces = offers.map(({ faceValue, price }) => faceValue ?? price)
  const { currency, divisor } = faces[0] ?? { currency: '', divisor: 1 }
  const amount = Math.round(amountInMajor * divisor)
  const faceValues = new Set(faces.flatMap((face) => (face.type === 'FIXED' ? face.fixed : [])))
  const values = [...faceValues].sort((one, other) => other - one)
  const sums = values.flatMap((value, at) => sumsWith(value, values.slice(at + 1), amount))
  const best = (of: readonly Sum[], isBetter: (one: number, other: number) => boolean) =>
    of.reduce<Sum | undefined>((known, one) => {
      if (known === undefined || isBetter(one.total, known.total)) return one
      return one.total === known.total && weightOf(one) < weightOf(known) ? one : known
    }, undefined)
  const below = best(
    sums.filter(({ total }) => total <= amount),
    (one, other) => one > other,
  )
  const above = best(
    sums.filter(({ total }) => total >= amount),
    (one, other) => one < other,
  )
  const nearest = below?.total === amount ? [below] : [below, above]
  const inWords = ([count, value]: readonly [count: number, value: number]) =>
    count === 1 ? value / divisor : `${count} x ${value / divisor}`
  return nearest.flatMap((sum) =>
    sum === undefined ? [] : `${sum.cards.map(inWords).join(' + ')} ${currency}`,
  )
}

/** Cards of a value, alone or with cards of a lower one, up to the first sum that is not less than the amount. */
function sumsWith(value: number, others: readonly number[], amount: number): Sum[] {
  const most = Math.min(maxCards, Math.ceil(amount / value))
  return Array.from({ length: most }, (_, index) => index + 1).flatMap((count) => {
    const rest = amount - count * value
    const filled = others.flatMap((other) =>
      [Math.floor(rest / other), Math.ceil(rest / other)]
        .filter((more) => more > 0 && more + count <= maxCards)
        .map((more) => sumOf([count, value], [more, other])),
    )
    return [sumOf([count, value]), ...filled]
  })
}

function sumOf(...cards: Sum['cards']): Sum {
  return { cards, total: cards.reduce((total, [count, value]) => total + count * value, 0) }
}

/** Few cards, and of equally few those of one value. */
function weightOf({ cards }: Sum): number {
  return cards.reduce((sum, [count]) => sum + count, 0) + cards.length / 10
}
