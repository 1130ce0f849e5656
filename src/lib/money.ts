import type { Brand } from './brand.ts'

/** USDC in its smallest unit, a millionth of a dollar. 12.50 USDC is 12_500_000n. */
export type Usdc = Brand<bigint, 'Usdc'>

/** US dollars in whole cents. 12.50 USD is 1250. */
export type Cents = Brand<number, 'Cents'>

/** How many decimals USDC has on every chain the store knows. */
export const usdcDecimals = 6

const atomicPerCent = 10_000n

/** Takes an integer of atomic USDC, as x402 carries it ("12500000"). Throws on anything else. */
export function usdc(atomic: string | bigint): Usdc {
  const amount = typeof atomic === 'bigint' ? atomic : parseAtomic(atomic)
  if (amount < 0n) throw new Error(`${atomic} is not an amount of USDC`)
  return amount as Usdc
}

/** Takes a whole number of USDC, as people write amounts in settings. */
export function usdcFromWhole(whole: number): Usdc {
  return usdc(BigInt(whole) * 10n ** BigInt(usdcDecimals))
}

/** One USDC counts as one dollar (docs/decisions/003). */
export function usdcFromCents(cents: Cents): Usdc {
  return (BigInt(cents) * atomicPerCent) as Usdc
}

/** Takes a whole number of cents. Throws on a fraction or a negative number, never rounds. */
export function cents(value: number): Cents {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} is not whole cents`)
  return value as Cents
}

/** The smallest of these amounts; undefined of none. */
export function leastOf(amounts: readonly Usdc[]): Usdc | undefined {
  return [...amounts].sort((one, other) => Number(one - other))[0]
}

/** Writes the amount as people read it, with at least two decimals: "12.50", "0.000001". */
export function formatUsdc(amount: Usdc): string {
  const digits = amount.toString().padStart(usdcDecimals + 1, '0')
  const fraction = digits.slice(-usdcDecimals).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -usdcDecimals)}.${fraction}`
}

function parseAtomic(text: string): bigint {
  if (!/^\d{1,30}$/.test(text)) throw new Error(`"${text}" is not an amount of USDC`)
  return BigInt(text)
}
