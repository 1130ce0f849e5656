/** USDC counts in millionths (Circle's `decimals()` is 6). */
const unit = 1_000_000n

/** Atomic USDC as people write it: "0.50", "999.123456"; at least two decimals, none invented. */
export function usdcText(atomic: bigint): string {
  const sign = atomic < 0n ? '-' : ''
  const size = atomic < 0n ? -atomic : atomic
  const decimals = (size % unit)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${sign}${size / unit}.${decimals}`
}
