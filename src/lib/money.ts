import type { Brand } from './ids.ts'

/** USDC in its smallest unit, a millionth of a dollar. 12.50 USDC is 12_500_000n. */
export type Usdc = Brand<bigint, 'Usdc'>

/** US dollars in whole cents. 12.50 USD is 1250. */
export type Cents = Brand<number, 'Cents'>

export const usdcDecimals = 6

const atomicPerCent = 10_000n

export function usdc(atomic: string | bigint): Usdc {
  const isPlain = typeof atomic === 'bigint' ? atomic >= 0n : /^\d{1,30}$/.test(atomic)
  if (!isPlain) throw new Error(`"${atomic}" is not an amount of USDC`)
  return BigInt(atomic) as Usdc
}

export function usdcFromText(text: string): Usdc {
  const [, whole = '', fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  return usdc(whole === '' ? text : BigInt(whole + fraction.padEnd(usdcDecimals, '0')))
}

/** Converts at one USDC to the dollar (docs/contributors/decisions/003). */
export function usdcFromCents(cents: Cents): Usdc {
  return (BigInt(cents) * atomicPerCent) as Usdc
}

export function cents(value: number): Cents {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} is not whole cents`)
  return value as Cents
}

export function leastOf(amounts: readonly Usdc[]): Usdc | undefined {
  return [...amounts].sort((one, other) => Number(one - other))[0]
}

/** With at least two decimals: "12.50", "0.000001". */
export function formatUsdc(amount: Usdc): string {
  const digits = amount.toString().padStart(usdcDecimals + 1, '0')
  const fraction = digits.slice(-usdcDecimals).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -usdcDecimals)}.${fraction}`
}
