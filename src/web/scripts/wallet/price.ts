/** USDC has six decimals, a cent is ten thousand of its units. */
const unitsPerCent = 10_000n

/**
 * The most that the page says this purchase costs, in atomic USDC; undefined where the amount that was
 * typed is not one, which the store explains better.
 *
 * @param seen the price as the form carries it: "fixed:" and cents, or "open:" and the markup in
 *   hundredths of a percent, which is added to the amount and rounded up to the cent. After it may stand
 *   the least and the greatest amount and what they cost at least; between them that rises evenly
 */
export function saidPrice(seen: string, value: unknown): bigint | undefined {
  const [, type, number = '', floor] =
    /^(fixed|open):(\d{1,12})(?::(\d{1,12}-\d{1,12}:\d{1,12}-\d{1,12}))?$/.exec(seen) ?? []
  if (type === 'fixed') return BigInt(number) * unitsPerCent
  if (type !== 'open' || typeof value !== 'number' || !(value > 0)) return undefined
  const cents = BigInt(Math.round(value * 100))
  const raised = (cents * (10_000n + BigInt(number)) + 9_999n) / 10_000n
  const least = floor === undefined ? 0n : leastCost(floor, cents)
  return (least > raised ? least : raised) * unitsPerCent
}

function leastCost(floor: string, cents: bigint): bigint {
  const [min = 0n, max = 0n, lowest = 0n, highest = 0n] = floor.split(/[-:]/).map(BigInt)
  if (max <= min) return highest
  return lowest + ((highest - lowest) * (cents - min) + max - min - 1n) / (max - min)
}

/** "25.00", with as many decimals as there are and at least two. */
export function usdcText(atomic: bigint): string {
  const digits = atomic.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6).replace(/0{1,4}$/, '')}`
}
