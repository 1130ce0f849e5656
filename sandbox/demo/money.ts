/** The atomic units of one USDC (`decimals()` is 6). */
const unit = 1_000_000n

/** Atomic USDC as people write it: "0.50", "999.123456". At least two decimals, never rounded. */
export function usdcText(atomic: bigint): string {
  const sign = atomic < 0n ? '-' : ''
  const size = atomic < 0n ? -atomic : atomic
  const decimals = (size % unit)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${sign}${size / unit}.${decimals}`
}
