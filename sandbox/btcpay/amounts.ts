/**
 * Amounts are never floating point. Amounts of a coin are in its smallest units. Amounts in the currency of an invoice
 * are whole numbers of 10⁻²⁶, which represent any amount times any rate exactly.
 */
export const worthDecimals = 26

/** Reads "12.34" as units of 10⁻ᵈᵉᶜⁱᵐᵃˡˢ; undefined if it is not such a number or has more decimals. */
export function parseDecimal(text: string, decimals: number): bigint | undefined {
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,20})(?:\.(\d{0,40}))?$/.exec(text) ?? []
  if (whole === undefined || /[1-9]/.test(fraction.slice(decimals))) return undefined
  const units = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return sign === '-' ? -units : units
}

export function formatDecimal(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

export function worthOf(units: bigint, decimals: number, rate: string): bigint {
  return units * readRate(rate) * 10n ** BigInt(worthDecimals - decimals - rateDecimals)
}

/** The smallest units that are worth this amount, rounded up, as the server rounds the due amount. */
export function unitsFor(worth: bigint, decimals: number, rate: string): bigint {
  const one = worthOf(1n, decimals, rate)
  return worth > 0n ? (worth + one - 1n) / one : worth / one
}

const rateDecimals = 8

function readRate(rate: string): bigint {
  const read = parseDecimal(rate, rateDecimals)
  if (read === undefined || read <= 0n) throw new Error(`"${rate}" is not a rate.`)
  return read
}

/**
 * The server keeps as many decimals of a price as its currency has, and more only where rounding
 * would change the price by 1 % or more.
 */
export function roundPrice(worth: bigint): bigint {
  for (let kept = 2; kept < worthDecimals; kept += 1) {
    const rounded = roundTo(worth, kept)
    const off = rounded > worth ? rounded - worth : worth - rounded
    if (off * 100n < worth || worth === 0n) return rounded
  }
  return worth
}

/** Rounds to this many decimals, half up. Only for amounts that are not negative. */
export function roundTo(worth: bigint, decimals: number): bigint {
  const step = 10n ** BigInt(worthDecimals - decimals)
  return ((worth + step / 2n) / step) * step
}
