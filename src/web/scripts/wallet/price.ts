/** USDC has six decimals, so a cent is ten thousand atomic units. */
const unitsPerCent = 10_000n

/**
 * The maximum price of this purchase by what the page shows, in atomic USDC; undefined if the typed amount is invalid,
 * which the store explains better.
 *
 * @param seen the price as the form sends it: "fixed:" and cents, or "open:" and the markup in basis points, which is
 *   added to the amount and rounded up to the cent. The least and the greatest amount and their minimum prices may
 *   follow; the minimum price rises linearly between them
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
