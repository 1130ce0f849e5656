/** What the carrier says that a line was credited, with its currency; undefined where it says nothing. */
export function creditedText(credited: unknown): string | undefined {
  if (typeof credited !== 'object' || credited === null) return undefined
  const { amount, currency, currencyDivisor } = credited as Readonly<Record<string, unknown>>
  const digits = String(currencyDivisor).length - 1
  return `${(Number(amount) / Number(currencyDivisor)).toFixed(digits)} ${String(currency)}`
}
